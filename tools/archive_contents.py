"""What the archives of a release may contain: the tracked files of the package and the files about the project."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMIT = 10_000_000  # bytes per file
SUFFIXES = {".py", ".pyi", ".typed", ".html", ".css", ".js"}
DATA = {f"steelyard/tables/data/{name}" for name in ("grid.parquet", "grid_figures.json", "responses.parquet")}
ABOUT = {
    "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "pyproject.toml", "hatch_build.py",
    ".gitignore",
}  # fmt: skip
METADATA = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
SECRET = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(AKIA[0-9A-Z]{16}|gh[pousr]_\w{36}|github_pat_\w{60}|hf_[A-Za-z]{34}"
    rb"|pypi-\w{60}|sk-(proj-|ant-)?\w{40}|xox[bp]-\w{20})"
)


def package_files() -> set[str]:
    """The files of the package that git tracks, as they are named in a wheel."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "steelyard"], cwd=ROOT / "src", capture_output=True, text=True, check=True
    )
    return set(listed.stdout.split("\0")) - {""}


def archive_problems(path: Path, tracked: set[str]) -> list[str]:
    """What is wrong with a wheel or a source archive, one line each."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            files = {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}
        return content_problems(files, tracked, "wheel")
    with tarfile.open(path) as archive:
        members = [member for member in archive.getmembers() if not member.isdir()]
        content = ((member.name.partition("/")[2], archive.extractfile(member)) for member in members)
        files = {name.removeprefix("src/"): file.read() if file else b"" for name, file in content}
    return content_problems(files, tracked, "source archive")


def content_problems(files: dict[str, bytes], tracked: set[str], kind: str) -> list[str]:
    """What is wrong with the files of an archive; the package is named as in a wheel.

    >>> files = {"steelyard/cli/__init__.py": b"", "tests/test_vote.py": b""}
    >>> content_problems(files, {"steelyard/cli/__init__.py", "steelyard/py.typed"}, "wheel")
    ['tests/test_vote.py is not expected in the wheel', 'steelyard/py.typed is missing from the wheel']
    """
    return [
        *(f"{name} is not expected in the {kind}" for name in files if not _is_expected(name, tracked, kind)),
        *(f"{name} is missing from the {kind}" for name in sorted(tracked - set(files))),
        *(f"{name} in the {kind} is over {LIMIT // 10**6} MB" for name in files if len(files[name]) > LIMIT),
        *(f"{name} in the {kind} contains a secret" for name in files if SECRET.search(files[name])),
    ]


def _is_expected(name: str, tracked: set[str], kind: str) -> bool:
    """Whether a file is a tracked source file of the package, one of its data files, or a file about the project."""
    if name.startswith("steelyard/"):
        return name in tracked and (name in DATA or Path(name).suffix in SUFFIXES)
    if kind == "wheel":
        folder, _, metadata = name.partition("/")
        return bool(re.fullmatch(r"steelyard-[\w.]+\.dist-info", folder)) and metadata in METADATA
    return name in ABOUT
