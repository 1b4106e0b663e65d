"""Where the work on all parts stands: what is finished, and what the workers say of the parts they are at."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.engine.part_news import EVERY, News, all_news, forget_news
from steelyard.runs.usage import Usage
from steelyard.sampling.progress import Progress


@dataclass(frozen=True)
class PartDone:
    """What became of one part: how many were wanted, how many it holds now and what was done just now."""

    wanted: int
    held: int
    done: int
    failed: int
    tokens: int
    reasons: Counter[str] = field(default_factory=Counter)
    about: dict[str, Any] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)  # warnings
    spent: dict[str, Usage] = field(default_factory=dict)  # by upstream


class Board:
    """Adds up what the parts say; whoever watches is told by a thread of its own."""

    def __init__(self, run: Path, wanted: int, pieces: int, unit: str, watch: Callable[[Progress], None]) -> None:
        self.run, self.unit, self.watch = run, unit, watch
        self.stopped = False  # before its end, as too many parts failed
        self.finished: dict[str, PartDone] = {}
        self.total = Progress(wanted, 0, pieces=pieces, unit=unit)
        self._lock = threading.Lock()

    def finish(self, part: str, done: PartDone) -> None:
        """A part has ended well."""
        with self._lock:
            self.finished[part] = done
        self.tell()

    def tell(self) -> None:
        """Tell the watcher how all stands."""
        with self._lock:
            parts = list(self.finished.values())
            news = [each for part, each in all_news(self.run).items() if part not in self.finished]
        total = self.total
        total.pieces_done = len(parts)
        total.there = sum(each.held - each.done for each in parts)
        for name in ("done", "failed", "tokens"):
            setattr(total, name, sum(getattr(each, name) for each in (*parts, *news)))
        total.note_first()
        total.gpu = _mean(news)
        total.held = sum(each.held for each in parts)
        total.reasons = sum((each.reasons for each in parts), Counter[str]())
        names = sorted({name for each in parts for name in each.spent})
        total.spent = {name: sum((each.spent.get(name, Usage()) for each in parts), Usage()) for name in names}
        self.watch(total)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Tell the watcher now and then, while the block waits for parts."""
        forget_news(self.run)
        end = threading.Event()

        def now_and_then() -> None:
            while not end.wait(EVERY):
                self.tell()

        thread = threading.Thread(target=now_and_then, daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()
            forget_news(self.run)


def _mean(news: list[News]) -> float | None:
    shares = [each.gpu for each in news if each.gpu is not None]
    return sum(shares) / len(shares) if shares else None
