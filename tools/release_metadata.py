"""Whether the version, the changelog, the citation and the addresses of the project agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path


def package_version(root: Path) -> str:
    """The version that the package has, read without importing it."""
    return _first(r'__version__ = "(.+)"', root / "src" / "steelyard" / "foundation" / "version.py")


def release_problems(root: Path, tag: str = "", repository: str = "") -> list[str]:
    """What must be changed before a release, one line each; a tag and an address ask for more than their absence."""
    version = package_version(root)
    newest, _, date = _first(r"^## (.+)", root / "CHANGELOG.md").partition(", ")
    cited = _first(r"^version: (.+)", root / "CITATION.cff").strip("\"'")
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    foreign = [name for name, url in project["urls"].items() if not f"{url}/".startswith(f"{repository}/")]
    checks = {
        f"CITATION.cff has version {cited}, and the package {version}: change CITATION.cff": cited == version,
        f"CHANGELOG.md begins with {newest}, and the package is {version}: describe {version}": newest == version,
        f"the tag is {tag}, and the package is {version}: tag it v{version}": tag in ("", f"v{version}"),
        f"CHANGELOG.md has no date for {version}: write '## {version}, YYYY-MM-DD'": (
            not tag or bool(re.fullmatch(r"\d{4}-\d{2}-\d{2}", date))
        ),
        f"{', '.join(foreign)} under [project.urls] in pyproject.toml must begin with {repository}": (
            not repository or not foreign
        ),
    }
    return [problem for problem, holds in checks.items() if not holds]


def _first(pattern: str, path: Path) -> str:
    """The first match in a file."""
    match = re.search(pattern, path.read_text(), re.MULTILINE)
    return match[1].strip() if match else "none"
