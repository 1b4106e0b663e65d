"""Tasks that workers do in the tests."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from steelyard.foundation.errors import SettingError


@dataclass(frozen=True)
class Number:
    """A part that is a number."""

    value: int

    @property
    def name(self) -> str:
        return f"part-{self.value:05d}"


def parts(count: int) -> list[Number]:
    return [Number(i) for i in range(count)]


def doubled(times: int, part: Number) -> int:
    return times * part.value


def priority(_: object, part: Number) -> int:
    """How far this process stands back behind others."""
    return os.nice(0)


def fatal(marks: Path, part: Number) -> int:
    """Part 1 kills the first worker that does it, part 2 every worker, part 3 is refused, part 4 fails."""
    if part.value == 1 and not (marks / "killed").exists():
        (marks / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if part.value == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if part.value == 3:
        raise SettingError("three is refused: give another")
    if part.value == 4:
        raise ValueError("four")
    return part.value


def waiting(marks: Path, part: Number) -> int:
    """Say who works, and never end."""
    (marks / str(os.getpid())).touch()
    time.sleep(3600)
    return part.value
