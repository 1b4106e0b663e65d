"""Schedules parts on workers, one at a time per worker, until every part is finished or has failed.

A worker gets its next part when it has returned the last one, so the memory of the driver does not grow with the work.
A part whose worker died is given to another worker, at most TRIES times in all.
"""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from steelyard.foundation.errors import SettingError, SteelyardWarning

TRIES = 3  # workers that may die while they process one part
STARTS = 3  # workers in a row that may die while they start
LIMIT = 300.0  # seconds without a running worker before the first one must have started
WARNING = 30.0  # seconds without a running worker before a warning
POLL = 1.0  # seconds


class Part(Protocol):
    """A unit of work: anything that can be pickled and has a name."""

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
    """A worker, or its machine, has died; the message says how."""


class Worker(Protocol):
    """One worker. Its first result is why it cannot work, or None; the following ones are those of its parts."""

    def give(self, part: Any) -> None:
        """Start a part."""

    def result(self) -> Any:
        """Return the next result (steelyard/engine/worker.py); raise a DiedError if the worker has died."""

    def stop(self) -> None:
        """Stop it, whatever it is doing."""


class WorkerPool(Protocol):
    """Starts workers and waits for their results."""

    def start(self) -> Any:
        """Start a worker, which checks itself first; return it at once."""

    def wait(self, workers: Sequence[Any], seconds: float) -> Sequence[Any]:
        """Return the workers that have a result; none after the timeout."""


class Scheduler(Generic[P]):
    """The parts left to do, and the part that each worker is processing."""

    def __init__(self, pool: WorkerPool, parts: Sequence[P], workers: int, least: int = 1, need: str = "") -> None:
        self.pool, self.workers = pool, workers
        self.need = f" ({need})" if need else ""  # the resources of a worker
        self.warned = False  # that no worker runs yet
        self.minimum = min(least, len(parts))  # workers that must start; 0 once they have
        self.todo = deque((part, 1) for part in parts)  # with the number of the attempt
        self.starting: set[Worker] = set()
        self.idle: set[Worker] = set()
        self.busy: dict[Worker, tuple[P, int]] = {}
        self.deaths = 0  # in a row, of workers that were starting
        self.opened = self.began = time.monotonic()

    def run(self) -> Generator[Finished[P] | Failed[P]]:
        """Yield every part as it ends, in order of completion."""
        try:
            while self.todo or self.busy:
                self._adjust_workers()
                for worker in self._wait():
                    yield from self._receive(worker)
                    self._assign()
        finally:
            for worker in self._workers():
                worker.stop()

    def _workers(self) -> list[Worker]:
        return [*self.busy, *self.idle, *self.starting]

    def _adjust_workers(self) -> None:
        """Start as many workers as there is work for, and stop those without work."""
        while len(self.todo) > len(self.starting) + len(self.idle) and len(self._workers()) < self.workers:
            self.starting.add(self.pool.start())
        while not self.todo and self.idle:
            self.idle.pop().stop()

    def _wait(self) -> Sequence[Worker]:
        ready: Sequence[Worker] = self.pool.wait([*self.busy, *self.starting], POLL)
        if ready or self.busy:
            self.began = time.monotonic()
        else:
            self._check_started(time.monotonic() - self.began)
        self._check_minimum()
        return ready

    def _check_started(self, seconds: float) -> None:
        """Warn that no worker runs yet, and give up later."""
        if seconds > LIMIT:
            raise SettingError(
                f"no worker started within {LIMIT:.0f} s{self.need}: ask for fewer workers, CPUs or GPUs, or add "
                "machines to the cluster, and run the command again"
            )
        if seconds > WARNING and not self.warned:
            self.warned = True
            text = f"no worker started within {WARNING:.0f} s{self.need}: waiting for room, {LIMIT:.0f} s at most"
            warnings.warn(text, SteelyardWarning, stacklevel=2)

    def _check_minimum(self) -> None:
        """Give up if fewer workers than the minimum have started in time."""
        running = len(self.busy) + len(self.idle)
        self.minimum = 0 if running >= self.minimum else self.minimum
        if self.minimum and time.monotonic() - self.opened > LIMIT:
            raise SettingError(
                f"{running} of at least {self.minimum} workers have started in {LIMIT:.0f} s{self.need}: ask for "
                "fewer, or add machines to the cluster, and run the command again"
            )

    def _assign(self) -> None:
        while self.todo and self.idle:
            worker = self.idle.pop()
            self.busy[worker] = self.todo.popleft()
            worker.give(self.busy[worker][0])

    def _receive(self, worker: Worker) -> Generator[Finished[P] | Failed[P]]:
        if worker in self.starting:
            self.starting.remove(worker)
            self._started(worker)
            return
        part, number = self.busy.pop(worker)
        try:
            succeeded, outcome = worker.result()
        except DiedError as died:
            worker.stop()
            if number < TRIES:
                self.todo.appendleft((part, number + 1))
            else:
                yield Failed(part, f"{TRIES} workers in a row died while they processed it; the last one: {died}")
            return
        self.idle.add(worker)
        yield Finished(part, outcome) if succeeded else Failed(part, outcome)

    def _started(self, worker: Worker) -> None:
        try:
            problem = worker.result()
        except DiedError as died:
            worker.stop()
            self.deaths += 1
            if self.deaths >= STARTS:
                raise SettingError(f"{STARTS} workers died while they started; the last one: {died}") from None
            return
        self.idle.add(worker)
        if problem:
            raise SettingError(problem)
        self.deaths = 0
