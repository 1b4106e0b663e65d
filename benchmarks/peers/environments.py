"""A virtual environment per peer, outside of the repository; one that is complete is used again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import venv
from contextlib import suppress
from pathlib import Path

from benchmarks.peers.catalogue import Peer

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0  # seconds until an installation is given up


class NotRunError(Exception):
    """A peer that cannot be installed or run, with the reason in one line."""


def default_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "steelyard" / "peers"


def python_of(peer: Peer, cache: Path) -> Path:
    """Return the Python that runs the peer's driver, installing the peer first if it is not there yet."""
    if not peer.requirements:
        return Path(sys.executable)
    folder = cache / peer.name
    python, done = folder / "bin" / "python", folder / "installed.json"
    arguments = [*peer.requirements, "--no-deps"] if peer.alone else list(peer.requirements)
    if done.exists() and json.loads(done.read_text()) == arguments:
        return python
    venv.create(folder, clear=True, with_pip=False)
    quiet = ["--quiet", "--disable-pip-version-check", "--no-compile"]
    _pip([sys.executable, "-m", "pip", "--python", str(python), "install", *quiet, *arguments])
    done.write_text(json.dumps(arguments))
    return python


def _pip(command: list[str]) -> None:
    code, errors = finish(command, PATIENCE)
    if code is None:
        raise NotRunError(f"not installed within {PATIENCE:.0f} s")
    if code:
        raise NotRunError(f"not installed: {last_line(errors)}")


def finish(command: list[str], patience: float, **variables: str) -> tuple[int | None, str]:
    """Run a command in the repository, at most so many seconds; return its exit code (None: killed) and errors."""
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # pip starts another process, which must not outlive it
    ) as process:
        try:
            _, errors = process.communicate(timeout=patience)
            return process.returncode, errors
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def last_line(text: str) -> str:
    """The last error in the output of a program, or its last line, without addresses of servers."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["it printed nothing"]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return re.sub(r"\S+://\S+", "(address)", (errors or lines)[-1])[:200]
