"""The peak memory of a process, as Linux records it; tests that measure it are skipped on other systems."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.upstreams import ROOT

STATUS = Path("/proc/self/status")
LABEL = "peak memory in MB:"
REPORT = f"""
import atexit, sys
sys.path.append({str(ROOT)!r})
from tests.memory import LABEL, peak_memory
atexit.register(lambda: print(LABEL, peak_memory()))
"""


class Measured(NamedTuple):
    """What a process returned and printed, and its peak memory in MB."""

    code: int
    out: str
    err: str
    peak: int


def peak_memory() -> int:
    """The peak memory of this process in MB. It does not include that of the parent, as ru_maxrss does."""
    match = re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text())
    assert match
    return int(match[1]) // 1024


def measured(program: str, *arguments: object, **options: Any) -> Measured:
    """Run a Python program in another process and measure its memory."""
    if not STATUS.exists():
        pytest.skip(f"{STATUS} does not exist")
    command = [sys.executable, "-c", REPORT + program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    out, _, peak = done.stdout.rpartition(LABEL)
    assert peak, done.stderr[-2000:]
    return Measured(done.returncode, out, done.stderr, int(peak))
