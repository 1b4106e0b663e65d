"""Process parts with processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from steelyard.engine.scheduler import DiedError, Failed, Finished, P, Scheduler
from steelyard.engine.worker import attempt, refusal
from steelyard.foundation.arguments import with_names_of_this_process
from steelyard.foundation.cores import usable_cores
from steelyard.foundation.environment import SAFE_PATH
from steelyard.foundation.version import __version__

THREADS = "POLARS_MAX_THREADS"
SCRIPT = " (worker processes import the calling script: put the call under if __name__ == '__main__':)"


class ProcessEngine:
    """Every worker is a new process."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or usable_cores()

    def run(
        self,
        task: Callable[[Any, Any], Any],
        order: Any,
        parts: Sequence[P],
        *,
        workers: int | None = None,
        least: int = 1,
        gpus: float | None = 0,  # noqa: ARG002 - the processes share those of the machine
        reads: Mapping[str, str] | None = None,
    ) -> Generator[Finished[P] | Failed[P]]:
        """Run a task on all parts, as described in steelyard/engine/engines.py."""
        pool = _Processes((with_names_of_this_process(task), order, dict(reads or {})))
        yield from Scheduler(pool, parts, workers or self.workers, least).run()


class _Process:
    def __init__(self, work: tuple[Any, ...]) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, *work))
        with _environment():
            self.process.start()
        theirs.close()

    def give(self, part: Any) -> None:
        with suppress(OSError):  # a dead one is reported by its result
            self.line.send(part)

    def result(self) -> Any:
        try:
            return self.line.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            raise DiedError(f"process {self.process.pid} ended with code {code}{SCRIPT * (code == 1)}") from None

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.line.close()


class _Processes:
    def __init__(self, work: tuple[Any, ...]) -> None:
        self.work = work

    def start(self) -> _Process:
        return _Process(self.work)

    def wait(self, workers: Sequence[_Process], seconds: float) -> list[_Process]:
        ready = wait([worker.line for worker in workers], seconds)
        return [worker for worker in workers if worker.line in ready]


@contextmanager
def _environment() -> Iterator[None]:
    """Start processes with one thread for tables and without imports from this folder, unless the user set these."""
    added = [name for name in (THREADS, SAFE_PATH) if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _work(line: Connection, task: Callable[[Any, Any], Any], order: Any, reads: Mapping[str, str]) -> None:
    """The main loop of a worker: a check, then part after part until the driver ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver handles it and stops its workers
    threading.Thread(target=_end_with_driver, daemon=True).start()
    with suppress(EOFError, OSError):
        line.send(refusal(f"process {os.getpid()}", __version__, reads))
        while True:
            line.send(attempt(task, order, line.recv()))


def _end_with_driver() -> None:
    """End this process when the driver is killed: the same command again must not wait for what it holds."""
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)
