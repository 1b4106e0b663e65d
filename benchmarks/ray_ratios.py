"""How long Ray takes beside two processes, as stored in docs/ray_ratios.json for docs/scale.md."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = Path(__file__).parents[1] / "docs" / "ray_ratios.json"
GOAL = 1.15


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
        found = json.loads(FILE.read_text()) if FILE.exists() else {}
        FILE.write_text(json.dumps({**found, name: asdict(self)}, indent=1) + "\n")


def stored() -> list[Ratio]:
    """What was measured."""
    return [Ratio(**each) for each in json.loads(FILE.read_text()).values()] if FILE.exists() else []
