"""Parts are given to workers, one at a time to each, until every part is finished or has failed.

Nothing is given out ahead: a worker gets its next part when it has returned the last one, so the memory of the driver
does not grow with the work. A part whose worker died goes to another one, at most TRIES times in all.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from steelyard.foundation.errors import SettingError, SteelyardWarning

TRIES = 3  # workers that may die over one part
STARTS = 3  # workers that may die while they start, one after the other
LIMIT = 300.0  # seconds in which nobody works before the first worker must have started
SAID = 30.0  # seconds after which it is said that nobody works yet
LISTEN = 1.0  # seconds


class Part(Protocol):
    """What a worker does at a time: anything that can be pickled and has a name."""

    @property
    def name(self) -> str:
        """The name by which it is reported."""


P = TypeVar("P", bound=Part)


@dataclass(frozen=True)
class Finished(Generic[P]):
    """A part is done; `summary` is what the task returned."""

    part: P
    summary: Any


@dataclass(frozen=True)
class Failed(Generic[P]):
    """A part could not be done; `reason` is one line."""

    part: P
    reason: str


class DiedError(Exception):
    """A worker is gone, or the machine it was on; the text says how."""


class Worker(Protocol):
    """One worker. The first thing it says is why it may not work, or None; then what becomes of every part."""

    def give(self, part: Any) -> None:
        """Let it do a part."""

    def result(self) -> Any:
        """Return what it has to say (steelyard/engine/at_work.py); raise a DiedError if it is gone."""

    def dismiss(self) -> None:
        """End it, whatever it does."""


class Crew(Protocol):
    """Who hires workers and listens to them."""

    def hire(self) -> Any:
        """Start a worker, which checks itself first; return it at once."""

    def wait(self, workers: Sequence[Any], seconds: float) -> Sequence[Any]:
        """Return those of the workers that have something to say; none if the time is over."""


class GivingOut(Generic[P]):
    """The parts that are yet to be done, and who does what."""

    def __init__(self, crew: Crew, parts: Sequence[P], workers: int, least: int = 1, need: str = "") -> None:
        self.crew, self.workers = crew, workers
        self.need = f" ({need})" if need else ""  # what a worker takes
        self.waits = False  # and it was said that nobody works yet
        self.least = min(least, len(parts))  # workers that must start; 0 once they have
        self.todo = deque((part, 1) for part in parts)  # with the number of the try
        self.starting: set[Worker] = set()
        self.idle: set[Worker] = set()
        self.busy: dict[Worker, tuple[P, int]] = {}
        self.deaths = 0  # of workers that started, one after the other
        self.opened = self.began = time.monotonic()

    def run(self) -> Generator[Finished[P] | Failed[P]]:
        """Yield every part as it ends, in whatever order that is."""
        try:
            while self.todo or self.busy:
                self._hire()
                for worker in self._heard():
                    yield from self._listen(worker)
                    self._give()
        finally:
            for worker in self._everyone():
                worker.dismiss()

    def _everyone(self) -> list[Worker]:
        return [*self.busy, *self.idle, *self.starting]

    def _hire(self) -> None:
        """Start as many workers as there is work for, and end those for whom there is none."""
        while len(self.todo) > len(self.starting) + len(self.idle) and len(self._everyone()) < self.workers:
            self.starting.add(self.crew.hire())
        while not self.todo and self.idle:
            self.idle.pop().dismiss()

    def _heard(self) -> Sequence[Worker]:
        heard: Sequence[Worker] = self.crew.wait([*self.busy, *self.starting], LISTEN)
        if heard or self.busy:
            self.began = time.monotonic()
        else:
            self._check_started(time.monotonic() - self.began)
        self._check_least()
        return heard

    def _check_started(self, seconds: float) -> None:
        """Say that nobody works yet, and later give up."""
        if seconds > LIMIT:
            raise SettingError(
                f"no worker has started in {LIMIT:.0f} s{self.need}: ask for fewer workers, CPUs or GPUs, or add "
                "machines to the cluster, and run the command again"
            )
        if seconds > SAID and not self.waits:
            self.waits = True
            text = f"no worker has started in {SAID:.0f} s{self.need}: waiting for room, {LIMIT:.0f} s at most"
            warnings.warn(text, SteelyardWarning, stacklevel=2)

    def _check_least(self) -> None:
        """Give up where fewer workers have started than must."""
        there = len(self.busy) + len(self.idle)
        self.least = 0 if there >= self.least else self.least
        if self.least and time.monotonic() - self.opened > LIMIT:
            raise SettingError(
                f"{there} of at least {self.least} workers have started in {LIMIT:.0f} s{self.need}: ask for "
                "fewer, or add machines to the cluster, and run the command again"
            )

    def _give(self) -> None:
        while self.todo and self.idle:
            worker = self.idle.pop()
            self.busy[worker] = self.todo.popleft()
            worker.give(self.busy[worker][0])

    def _listen(self, worker: Worker) -> Generator[Finished[P] | Failed[P]]:
        if worker in self.starting:
            self.starting.remove(worker)
            self._started(worker)
            return
        part, number = self.busy.pop(worker)
        try:
            well, said = worker.result()
        except DiedError as died:
            worker.dismiss()
            if number < TRIES:
                self.todo.appendleft((part, number + 1))
            else:
                yield Failed(part, f"{TRIES} workers died over it, one after the other; of the last one: {died}")
            return
        self.idle.add(worker)
        yield Finished(part, said) if well else Failed(part, said)

    def _started(self, worker: Worker) -> None:
        try:
            refused = worker.result()
        except DiedError as died:
            worker.dismiss()
            self.deaths += 1
            if self.deaths >= STARTS:
                raise SettingError(f"{STARTS} workers died while they started; of the last one: {died}") from None
            return
        self.idle.add(worker)
        if refused:
            raise SettingError(refused)
        self.deaths = 0
