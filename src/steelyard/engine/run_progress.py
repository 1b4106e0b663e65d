"""The progress of a run in parts: finished parts, and what workers report of the parts that they process."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.engine.part_progress import EVERY, PartProgress, clear_progress, read_progress
from steelyard.runs.usage import Usage
from steelyard.sampling.progress import Progress


@dataclass(frozen=True)
class PartDone:
    """The outcome of one part: how many items were wanted, how many it holds, and what was done now."""

    wanted: int
    held: int
    done: int
    failed: int
    tokens: int
    reasons: Counter[str] = field(default_factory=Counter)
    about: dict[str, Any] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)  # warnings
    spent: dict[str, Usage] = field(default_factory=dict)  # by upstream


class RunProgress:
    """Adds up the progress of all parts; a thread reports it to the watcher."""

    def __init__(self, run: Path, wanted: int, pieces: int, unit: str, watch: Callable[[Progress], None]) -> None:
        self.run, self.unit, self.watch = run, unit, watch
        self.stopped = False  # before its end, as too many parts failed
        self.finished: dict[str, PartDone] = {}
        self.total = Progress(wanted, 0, pieces=pieces, unit=unit)
        self._lock = threading.Lock()

    def finish(self, part: str, done: PartDone) -> None:
        """Count a part that has succeeded."""
        with self._lock:
            self.finished[part] = done
        self.report()

    def report(self) -> None:
        """Report the progress to the watcher."""
        with self._lock:
            parts = list(self.finished.values())
            running = [progress for part, progress in read_progress(self.run).items() if part not in self.finished]
        total = self.total
        total.pieces_done = len(parts)
        total.there = sum(each.held - each.done for each in parts)
        for name in ("done", "failed", "tokens"):
            setattr(total, name, sum(getattr(each, name) for each in (*parts, *running)))
        total.note_first()
        total.gpu = _mean(running)
        total.held = sum(each.held for each in parts)
        total.reasons = sum((each.reasons for each in parts), Counter[str]())
        names = sorted({name for each in parts for name in each.spent})
        total.spent = {name: sum((each.spent.get(name, Usage()) for each in parts), Usage()) for name in names}
        self.watch(total)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Report to the watcher now and then while the block waits for parts."""
        clear_progress(self.run)
        end = threading.Event()

        def report() -> None:
            while not end.wait(EVERY):
                self.report()

        thread = threading.Thread(target=report, daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()
            clear_progress(self.run)


def _mean(running: list[PartProgress]) -> float | None:
    shares = [part.gpu for part in running if part.gpu is not None]
    return sum(shares) / len(shares) if shares else None
