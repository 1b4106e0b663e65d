"""Counts the votes of one request, with the same pool and the same method as `steelyard ask`.

Answers that only the equivalence checker can compare, and long free text, are counted in a thread, so that no other
request waits; each thread has its own reader and worker processes. The more requests wait for the checker, the less
time each of them gets, and never more than is left until its deadline. Answers that were not compared by then count as
different, and the reply says so.
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
from steelyard.sampling.ask.ask_cascade import CascadeTurns, cascade_outcome, turns_of
from steelyard.sampling.ask.sample_stream import Draw
from steelyard.sampling.ask.sample_votes import Entered, Outcome, outcome_of
from steelyard.sampling.online.ballot import Ballot
from steelyard.sampling.online.cascade_walk import BallotState
from steelyard.sampling.online.entry_pool import EntryPool
from steelyard.sampling.online.similar_texts import SimilarTexts
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Pool
from steelyard.voting.stopping.cascade import Cascade

THREADS = 2
ALGEBRA = 10.0  # seconds that one count may use the equivalence checker if no other waits
QUICK = 20_000  # characters of free text that are compared at once, in 10 ms
MIN_SECONDS = 0.5  # per count, however many wait
READER_LIFETIME = 2000  # requests per reader: it caches what it has read
Result = TypeVar("Result")
Work = Callable[[AnswerReader], Result]


class VoteEntry(NamedTuple):
    """The entry of one sample in the vote."""

    number: int
    source: str
    answer: str | None
    score: float | None


class VoteCounter:
    """Counts votes for all requests."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="counting")
        self._without_algebra = ThreadPoolExecutor(1, thread_name_prefix="counting-late")
        self._local = threading.local()
        self._readers: list[AnswerReader] = []
        self._running = 0  # counts that run in a thread, or wait for one
        self._lock = threading.Lock()

    async def outcome(
        self,
        entries: Sequence[VoteEntry],
        voter: Method,
        kind: str,
        until: float = math.inf,
        *,
        texts: SimilarTexts | None = None,
        losses: bool = False,
    ) -> tuple[Outcome, list[str]]:
        """Vote on samples in the order of their numbers; notes report answers that were not compared in time."""
        rows = _by_number(entries)
        work = _with_notes(lambda reader: _outcome(rows, voter, reader, texts, losses=losses))
        return await self.run(kind, [one.answer for one in rows], work, until)

    async def cascade_outcome_of(
        self,
        entries: Sequence[VoteEntry],
        draws: Sequence[Draw],
        voter: Method,
        cascade: Cascade,
        state: BallotState,
        kind: str,
        upstreams: Sequence[str],
        until: float = math.inf,
    ) -> tuple[tuple[Outcome, CascadeTurns], list[str]]:
        """Vote on samples by a cascade; `draws` are all samples requested from its sources, also missing ones."""
        rows = _by_number(entries)

        def work(reader: AnswerReader) -> tuple[Outcome, CascadeTurns]:
            pool, entered = _pool(rows, voter, reader)
            return cascade_outcome(pool, entered, cascade, state), turns_of(pool, draws, cascade, upstreams)

        return await self.run(kind, [one.answer for one in rows], _with_notes(work), until)

    async def run(
        self, kind: str, answers: Sequence[str | None], work: Work[Result], until: float = math.inf
    ) -> Result:
        """Run work that groups answers: directly if it is quick, else in a thread.

        Work that is not done by `until`, of the monotonic clock, is done without algebra: a worker process may be
        starting, others may be busy, and one question may take seconds.
        """
        if is_quick(kind, answers):
            return work(AnswerReader(kind))
        left = until - time.monotonic()
        if left > 0:
            with self._lock:
                self._running += 1
            future = self._threads.submit(self._run_timed, kind, work, until)
            future.add_done_callback(self._done)
            try:
                async with asyncio.timeout(left if left < math.inf else None):
                    return await asyncio.wrap_future(future)
            except TimeoutError:
                pass
        late = AnswerReader(kind)
        late.until = -math.inf
        return await asyncio.get_running_loop().run_in_executor(self._without_algebra, work, late)

    def _run_timed(self, kind: str, work: Work[Result], until: float) -> Result:
        """Run work in a thread, within its share of the time when it starts."""
        reader = self._reader(kind)
        share = time.monotonic() + max(MIN_SECONDS, ALGEBRA * THREADS / max(THREADS, self._running))
        reader.until = min(until, share)
        return work(reader)

    def _done(self, _: object) -> None:
        with self._lock:
            self._running -= 1

    async def warm(self, voter: Method) -> None:
        """Run a trial vote in a thread, so that the first request does not wait for imports and compiled loops."""
        rows = [VoteEntry(number, "", "1", 0.5) for number in range(2)]
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._threads, lambda: _outcome(rows, voter, AnswerReader("exact")))

    def close(self) -> None:
        """Stop the threads and the worker processes."""
        for threads in (self._threads, self._without_algebra):
            threads.shutdown(wait=False, cancel_futures=True)
        for reader in self._readers:
            reader.close()

    def _reader(self, kind: str) -> AnswerReader:
        """The reader of this thread; it is replaced from time to time."""
        readers: dict[str, tuple[AnswerReader, int]] = self._local.__dict__.setdefault("readers", {})
        reader, used = readers.get(kind, (None, 0))
        if reader is None or used >= READER_LIFETIME:
            if reader is not None:
                reader.close()
                self._readers.remove(reader)
            reader, used = AnswerReader(kind), 0
            self._readers.append(reader)
        readers[kind] = reader, used + 1
        return reader


def _with_notes(work: Work[Result]) -> Work[tuple[Result, list[str]]]:
    """Work that also returns a note about answers that were not compared in time."""

    def noted(reader: AnswerReader) -> tuple[Result, list[str]]:
        before = reader.undecided
        result = work(reader)
        late = reader.undecided - before
        return result, [f"{late:,} pairs of answers were not compared in time and count as different"] * (late > 0)

    return noted


def _by_number(entries: Sequence[VoteEntry]) -> list[VoteEntry]:
    return sorted(entries, key=lambda one: (one.number, one.source))


def _outcome(
    rows: Sequence[VoteEntry],
    voter: Method,
    reader: AnswerReader,
    texts: SimilarTexts | None = None,
    *,
    losses: bool = False,
) -> Outcome:
    pool, entered = _pool(rows, voter, reader, texts)
    return outcome_of(pool, voter, entered, losses=losses)


def _pool(
    rows: Sequence[VoteEntry], voter: Method, reader: AnswerReader, texts: SimilarTexts | None = None
) -> tuple[Pool, list[Entered]]:
    entries = [(one.answer, one.score, one.source or None) for one in rows]
    pools = EntryPool(voter, reader, texts)
    pools.group(entries)
    return pools.pool(entries), [Entered(one.number, one.source, one.score) for one in rows]


def needs_checker(kind: str, answers: Sequence[str | None]) -> bool:
    """Whether the answers contain algebra, which only a worker process can compare."""
    return simple_keys([text for text in set(answers) if text is not None], kind_of(kind)) is None


def is_quick(kind: str, answers: Sequence[str | None]) -> bool:
    """Whether answers are compared within a few milliseconds."""
    if kind_of(kind).similarity is None:
        return not needs_checker(kind, answers)
    return sum(len(text) for text in answers if text is not None) <= QUICK


class RunningBallot:
    """The ballot of one request while samples arrive; it depends on their numbers, not their order."""

    def __init__(
        self,
        counter: VoteCounter,
        voter: Method,
        kind: str,
        until: float = math.inf,
        texts: SimilarTexts | None = None,
    ) -> None:
        self.counter, self.voter, self.kind, self.until, self.texts = counter, voter, kind, until, texts
        self.entries: list[VoteEntry] = []
        self._seen = 0  # how many of them are in the state
        self._ballot = Ballot(voter, answers=AnswerReader(kind), prompt=texts)
        self.state = self._ballot.state

    async def add(self, *more: VoteEntry) -> BallotState:
        """Count samples, and earlier ones whose counting was interrupted."""
        self.entries += more
        if len(self.entries) == self._seen:
            return self.state
        answers = [previous.answer for previous in self.entries]
        if self.texts is not None and not is_quick(self.kind, answers):
            await self.counter.run(self.kind, answers, self._compare, self.until)
        if self.texts is not None or is_quick(self.kind, answers):
            self.state = [_add(self._ballot, one) for one in self.entries[self._seen :]][-1]
        else:
            self.state = await self.counter.run(self.kind, answers, self._recount, self.until)
        self._seen = len(answers)
        return self.state

    def _compare(self, _: AnswerReader) -> None:
        """Compare the texts of the new entries, which takes most of the time, with all others."""
        if self.texts is not None:
            self.texts.matrix([one.answer for one in self.entries[self._seen :] if one.answer is not None])

    def _recount(self, reader: AnswerReader) -> BallotState:
        ballot = Ballot(self.voter, answers=reader)
        return [_add(ballot, one) for one in self.entries][-1]


def _add(ballot: Ballot, one: VoteEntry) -> BallotState:
    return ballot.add(one.answer, one.score, one.number, one.source or None)
