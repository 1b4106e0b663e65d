"""Run drivers in processes of their own, and put a peer's rules beside Steelyard's."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peers.agreement import agreement
from benchmarks.peers.catalogue import DRIVERS, GRID, Comparison, Peer
from benchmarks.peers.environments import NotRunError, finish, last_line
from benchmarks.peers.responses import ResponseSet

PATIENCE = 600.0  # seconds for one driver
TIMES, AFFORDABLE = 100, 6.0  # the large file repeats the questions; only for rules that need about so many seconds
Output = Mapping[str, Any]
Row = dict[str, Any]


@dataclass
class Workbench:
    """The files of all response sets in a folder, and the outputs of Steelyard's rules on them."""

    folder: Path
    sets: Mapping[str, ResponseSet]
    times: int = TIMES
    _own: dict[tuple[str, Path], Output] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, responses in self.sets.items():
            responses.write(self.file(name))
        if self.times > 1:
            self.sets[GRID].write(self.large, self.times)

    def file(self, name: str) -> Path:
        return self.folder / f"{name}.jsonl"

    @property
    def large(self) -> Path:
        return self.folder / "large.jsonl"

    def rows(self, peer: Peer, python_of: Callable[[Peer], Path]) -> Iterator[Row]:
        """One row per rule of the peer; a rule that could not be run has its reason in `failure`."""
        for comparison in peer.comparisons:
            row = {"peer": peer.name, "source": peer.source, **asdict(comparison)}
            try:
                yield row | self._compared(peer, comparison, python_of(peer))
            except NotRunError as error:
                yield row | {"failure": str(error)}

    def _compared(self, peer: Peer, comparison: Comparison, python: Path) -> Row:
        path, responses = self.file(comparison.responses), self.sets[comparison.responses]
        output = run_driver(python, peer.driver, comparison.rule, path)
        own = self.own(comparison.own, path)
        try:
            agreed = agreement(responses, comparison.own, output["verdicts"], own["verdicts"])
        except ValueError as error:
            raise NotRunError(str(error)) from None
        row = {"version": output["version"], **asdict(agreed), "cost": _ratios(output, own)}
        if comparison.responses == GRID and self.times > 1 and output["cpu"] * self.times < AFFORDABLE:
            large = run_driver(python, peer.driver, comparison.rule, self.large)
            row["large"] = _ratios(large, self.own(comparison.own, self.large))
        return row

    def own(self, rule: str, path: Path) -> Output:
        if (rule, path) not in self._own:
            self._own[rule, path] = run_driver(Path(sys.executable), f"{DRIVERS}.steelyard_rules", rule, path)
        return self._own[rule, path]


def run_driver(python: Path, driver: str, rule: str, responses: Path) -> Output:
    """Return what a driver wrote; only Steelyard's Python sees the PYTHONPATH of this process."""
    verdicts = responses.with_name("verdicts.json")
    verdicts.unlink(missing_ok=True)
    path = os.environ.get("PYTHONPATH", "") if python == Path(sys.executable) else ""
    command = [str(python), "-m", driver, rule, str(responses), str(verdicts)]
    code, errors = finish(command, PATIENCE, PYTHONPATH=path)
    if code is None:
        raise NotRunError(f"no verdicts within {PATIENCE:.0f} s")
    if code or not verdicts.exists():
        raise NotRunError(f"failed: {last_line(errors)}")
    output: Output = json.loads(verdicts.read_text())
    return output


def _ratios(output: Output, own: Output) -> dict[str, float]:
    """Relative to Steelyard, whose own seconds and MB are stored beside."""
    return {
        "cpu": output["cpu"] / own["cpu"],
        "memory": output["memory"] / own["memory"],
        "own_seconds": own["cpu"],
        "own_mb": own["memory"],
    }
