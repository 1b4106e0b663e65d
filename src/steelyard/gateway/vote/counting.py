"""The vote on the samples of one request: the same pool and the same method as `steelyard ask` has.

Answers that only the equivalence checker can tell apart are counted in a thread, so that no other request waits for
that; each thread has a reader, and with it worker processes, of its own. Who comes with algebra while others wait with
theirs has the less time for it the more there are, and nobody has more than is left of his request: what was not
compared by then counts as different answers, and the reply says so.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from steelyard.answers.extract import kind_of
from steelyard.answers.grouping import simple_keys
from steelyard.answers.reader import AnswerReader
from steelyard.sampling.ask.ask import Entered, Outcome, outcome_of
from steelyard.sampling.ask.cascade_outcome import CascadeAsked, cascade_outcome, turns_of
from steelyard.sampling.llm.draws import Draw
from steelyard.sampling.online.entry_pool import EntryPool
from steelyard.sampling.online.standing import Standing
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Pool
from steelyard.voting.stopping.cascade import Cascade

THREADS = 2
ALGEBRA = 10.0  # seconds that one count may ask the equivalence checker for, when nobody waits
LEAST = 0.5  # seconds, however many wait
READ = 2000  # requests that one reader is used for: it remembers what it has read

Result = TypeVar("Result")
Work = Callable[[AnswerReader], Result]


class Counted(NamedTuple):
    """What one sample enters the vote with."""

    number: int
    source: str
    answer: str | None
    score: float | None


class Counting:
    """Counts votes for all requests."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="counting")
        self._without_algebra = ThreadPoolExecutor(1, thread_name_prefix="counting-late")
        self._own = threading.local()
        self._readers: list[AnswerReader] = []
        self._at_work = 0  # counts that are in a thread, or wait for one
        self._lock = threading.Lock()

    async def outcome(
        self, counted: Sequence[Counted], voter: Method, kind: str, until: float = math.inf, *, losses: bool = False
    ) -> tuple[Outcome, list[str]]:
        """Vote on samples in the order of their numbers; what was not compared in time is told in notes."""
        rows = _in_order(counted)
        work = _noted(lambda reader: _outcome(rows, voter, reader, losses=losses))
        return await self.run(kind, [one.answer for one in rows], work, until)

    async def cascaded(
        self,
        counted: Sequence[Counted],
        draws: Sequence[Draw],
        voter: Method,
        cascade: Cascade,
        standing: Standing,
        kind: str,
        upstreams: Sequence[str],
        until: float = math.inf,
    ) -> tuple[tuple[Outcome, CascadeAsked], list[str]]:
        """Vote on samples by a cascade; `draws` are all that the sources owed that were asked."""
        rows = _in_order(counted)

        def work(reader: AnswerReader) -> tuple[Outcome, CascadeAsked]:
            pool, entered = _pool(rows, voter, reader)
            return cascade_outcome(pool, entered, cascade, standing), turns_of(pool, draws, cascade, upstreams)

        return await self.run(kind, [one.answer for one in rows], _noted(work), until)

    async def run(
        self, kind: str, answers: Sequence[str | None], work: Work[Result], until: float = math.inf
    ) -> Result:
        """Do work that groups answers: here where that is quick, else in a thread.

        What is not done there by the time `until`, of the monotonic clock, is done without algebra: a worker process
        may be starting, others may be at work, and one question may take seconds.
        """
        if not needs_checker(kind, answers):
            return work(AnswerReader(kind))
        left = until - time.monotonic()
        if left > 0:
            with self._lock:
                self._at_work += 1
            counted = self._threads.submit(self._timed, kind, work, until)
            counted.add_done_callback(self._ended)
            try:
                async with asyncio.timeout(left if left < math.inf else None):
                    return await asyncio.wrap_future(counted)
            except TimeoutError:
                pass
        late = AnswerReader(kind)
        late.until = -math.inf
        return await asyncio.get_running_loop().run_in_executor(self._without_algebra, work, late)

    def _timed(self, kind: str, work: Work[Result], until: float) -> Result:
        """Do work in a thread, within the share of time that is there when its turn comes."""
        reader = self._reader(kind)
        share = time.monotonic() + max(LEAST, ALGEBRA * THREADS / max(THREADS, self._at_work))
        reader.until = min(until, share)
        return work(reader)

    def _ended(self, _: object) -> None:
        with self._lock:
            self._at_work -= 1

    async def warm(self, voter: Method) -> None:
        """Vote once on nothing, in a thread, so that the first request does not wait for the compiled loops."""
        rows = [Counted(number, "", "1", 0.5) for number in range(2)]
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._threads, lambda: _outcome(rows, voter, AnswerReader("exact")))

    def close(self) -> None:
        """Stop the threads and the worker processes."""
        for threads in (self._threads, self._without_algebra):
            threads.shutdown(wait=False, cancel_futures=True)
        for reader in self._readers:
            reader.close()

    def _reader(self, kind: str) -> AnswerReader:
        """The reader of this thread, a new one from time to time."""
        readers: dict[str, tuple[AnswerReader, int]] = self._own.__dict__.setdefault("readers", {})
        reader, used = readers.get(kind, (None, 0))
        if reader is None or used >= READ:
            if reader is not None:
                reader.close()
                self._readers.remove(reader)
            reader, used = AnswerReader(kind), 0
            self._readers.append(reader)
        readers[kind] = reader, used + 1
        return reader


def _noted(work: Work[Result]) -> Work[tuple[Result, list[str]]]:
    """Work that also tells what was not compared in time."""

    def noted(reader: AnswerReader) -> tuple[Result, list[str]]:
        before = reader.undecided
        result = work(reader)
        late = reader.undecided - before
        return result, [f"{late:,} pairs of answers were not compared in time and count as different"] * (late > 0)

    return noted


def _in_order(counted: Sequence[Counted]) -> list[Counted]:
    return sorted(counted, key=lambda one: (one.number, one.source))


def _outcome(rows: Sequence[Counted], voter: Method, reader: AnswerReader, *, losses: bool = False) -> Outcome:
    pool, entered = _pool(rows, voter, reader)
    return outcome_of(pool, voter, entered, losses=losses)


def _pool(rows: Sequence[Counted], voter: Method, reader: AnswerReader) -> tuple[Pool, list[Entered]]:
    entries = [(one.answer, one.score, one.source or None) for one in rows]
    pools = EntryPool(voter, reader)
    pools.group(entries)
    return pools.pool(entries), [Entered(one.number, one.source, one.score) for one in rows]


def needs_checker(kind: str, answers: Sequence[str | None]) -> bool:
    """Whether there is algebra among the answers, which is not compared here but by a worker process."""
    return simple_keys([text for text in set(answers) if text is not None], kind_of(kind)) is None
