"""How long Ray takes beside two processes, as stored in docs/ray_ratios.json for docs/scale-costs.md."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "docs" / "ray_ratios.json"
GOAL = 1.15
MANY = "many-parts"


@dataclass(frozen=True)
class Ratio:
    """One comparison: medians of the seconds of two processes and of two workers of Ray."""

    what: str
    command: str
    processes: float
    ray: float
    turns: int
    worker_mb: float | None = None  # the most memory of a worker of Ray, and of the command
    command_mb: float | None = None

    @property
    def value(self) -> float:
        return self.ray / self.processes

    @property
    def said(self) -> str:
        """One line."""
        return f"{self.what}: {self.value:.2f} x ({self.ray:.1f} s, {self.processes:.1f} s), goal at most {GOAL} x"

    def store(self, name: str) -> None:
        """Put it into the file, in the place of the last one of that name."""
        FILE.write_text(json.dumps({**_file(), name: asdict(self)}, indent=1) + "\n")


def stored() -> list[Ratio]:
    """What was measured."""
    return [Ratio(**each) for name, each in _file().items() if name != MANY]


@dataclass(frozen=True)
class ManyParts:
    """A command that gives out very many tiny parts: its seconds and the most memory that it had."""

    parts: int
    command: str
    seconds: float
    command_mb: float

    def store(self) -> None:
        """Put it into the file."""
        FILE.write_text(json.dumps({**_file(), MANY: asdict(self)}, indent=1) + "\n")


def stored_many() -> ManyParts | None:
    """What was measured, if it was."""
    found = _file().get(MANY)
    return ManyParts(**found) if found else None


def _file() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found
