"""Run math-verify under a deadline, in worker processes that are killed and replaced when they hang."""

from __future__ import annotations

import json
import math
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from steelyard.foundation.environment import without_keys

DEADLINE = 30.0  # seconds per query; the CPU limit normally ends a hung worker earlier
START = 60.0  # seconds for a worker to start
FEW = 16  # queries that are not worth a second worker

Pair = tuple[str, str]
Reply = float | str | bool | None
SYMBOLIC = "symbolic"  # has letters, or is not a number
UNKNOWN = "unknown"  # timed out, or the worker died
LATE = "past the deadline"


class Worker:
    """One process, started on first use."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.ready = False

    def start(self) -> None:
        """Start the process without waiting until it is ready."""
        if self.process is None:
            command = [sys.executable, "-m", "steelyard.answers.equivalence_worker"]
            self.ready = False
            self.process = subprocess.Popen(  # noqa: S603 - our own module
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=without_keys(),
            )

    def ask(self, *forms: str) -> Reply:
        """Return the reply of the worker, or UNKNOWN after killing it; the next query starts a new process."""
        process = self._running()
        if process is None or process.stdin is None:
            return UNKNOWN
        try:
            process.stdin.write(json.dumps(forms).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            self.stop()
            return UNKNOWN
        line = self._line(process, DEADLINE)
        if line is None:
            self.stop()
            return UNKNOWN
        reply: Reply = json.loads(line)
        return reply

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def _running(self) -> subprocess.Popen[bytes] | None:
        self.start()
        if self.process is not None and not self.ready:
            self.ready = self._line(self.process, START) == b"ready\n"
            if not self.ready:
                self.stop()
        return self.process

    @staticmethod
    def _line(process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
        if process.stdout is None:
            return None
        poll = select.poll()  # select() refuses file descriptors above 1023, which a busy gateway has
        poll.register(process.stdout, select.POLLIN)
        return (process.stdout.readline() or None) if poll.poll(1000 * seconds) else None


class EquivalenceChecker:
    """Compares normal forms in a few workers and caches every reply.

    Past `until` (monotonic clock) new queries return UNKNOWN, are not cached, and may be repeated.
    """

    def __init__(self, workers: int = 2) -> None:
        self.until = math.inf
        self.replies: dict[tuple[str, ...], Reply] = {}
        self._idle = [Worker() for _ in range(workers)]
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start one worker in advance, while the queries are still being collected."""
        self._idle[-1].start()

    def values(self, forms: Sequence[str]) -> list[Reply]:
        """Return for every form its number, SYMBOLIC, None if it cannot be parsed, or UNKNOWN."""
        return self._all([(form,) for form in forms])

    def decide(self, pairs: Sequence[Pair]) -> list[bool | None]:
        """Return for every pair whether the two are the same answer; None if unknown."""
        replies = self._all([(a, b) if a <= b else (b, a) for a, b in pairs])
        return [None if reply == UNKNOWN else reply is True for reply in replies]

    def _all(self, queries: Sequence[tuple[str, ...]]) -> list[Reply]:
        new = [query for query in dict.fromkeys(queries) if query not in self.replies]
        if new:
            with ThreadPoolExecutor(1 if len(new) <= FEW else len(self._idle)) as executor:
                replies = zip(new, executor.map(self._ask, new), strict=True)
                self.replies.update((query, reply) for query, reply in replies if reply is not LATE)
        return [self.replies.get(query, UNKNOWN) for query in queries]

    def close(self) -> None:
        """Stop the workers."""
        for worker in self._idle:
            worker.stop()

    def _ask(self, query: tuple[str, ...]) -> Reply:
        if time.monotonic() >= self.until:
            return LATE
        with self._lock:
            worker = self._idle.pop()
        try:
            return worker.ask(*query)
        finally:
            with self._lock:
                self._idle.append(worker)

    def __enter__(self) -> EquivalenceChecker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
