"""Scores the samples of a run with a judge that compares them, question by question: durable, and no request twice.

Every reply is written to the journal as soon as it arrives, so a process that is killed loses only the requests under
way. The scores of a question follow when all its comparisons are there. Equal texts are one response, which is compared
once. Responses are ordered by a hash of their texts: the order in which they were sampled decides nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from steelyard.runs.comparison_records import Comparison, read_comparisons
from steelyard.runs.run import JOURNAL, Run
from steelyard.runs.token_usage import FIELD, usage_field, usage_from_field
from steelyard.sampling.score.frugal_score import Samples
from steelyard.sampling.score.score_samples import Saving, Scored, Scoring, check_same, count, record_of
from steelyard.sampling.verifiers.scored_items import Item, Runner, Scores, split
from steelyard.sampling.verifiers.tournament import Pair, Tournament, comparison_range

BATCH = 256  # responses of the questions that are compared at the same time
UNREADABLE = "no comparison with it is readable"
LATE = "it was sampled after its question was scored, and scores compare all responses: name another column with --as"


@dataclass
class Contest:
    """The responses of one question. `copies` has the samples of each text; `size` is the mean length of a text."""

    question: str
    copies: list[list[int]]
    unscored: set[int]
    size: float
    tournament: Tournament
    failure: str | None = None  # why it has no scores now

    @cached_property
    def player_of(self) -> dict[int, int]:
        """The player of each sample."""
        return {number: player for player, numbers in enumerate(self.copies) for number in numbers}

    def next(self) -> list[Comparison]:
        """The comparisons to request now, without their results; none after a failure."""
        if self.failure is None and len(self.unscored) < len(self.player_of) and self.tournament.next():
            self.failure = LATE
        calls: list[Pair] = [] if self.failure else self.tournament.next()
        return [Comparison(self.question, self.copies[a][0], self.copies[b][0], None) for a, b in calls]

    def tell(self, reply: Comparison) -> None:
        """Add a reply; the first one counts."""
        first, second = self.player_of.get(reply.first), self.player_of.get(reply.second)
        if first is not None and second is not None:
            self.tournament.replies.setdefault((first, second), reply.p)

    def requests_left(self) -> Pair:
        """The fewest and the most requests that are left."""
        low, high = comparison_range(self.tournament.players, self.tournament.leaders)
        replies = len(self.tournament.replies)
        return max(0, 2 * low - replies), max(0, 2 * high - replies)

    def results(self) -> Iterator[tuple[int, Scores | str]]:
        """The score of each unscored sample, or why it has none."""
        for numbers, score in zip(self.copies, self.tournament.scores(), strict=True):
            for number in self.unscored.intersection(numbers):
                yield number, self.failure or (UNREADABLE if score is None else Scores([score]))


def open_contests(run: Run, scoring: Scoring, leaders: int, done: Scored) -> list[Contest]:
    """The questions with unscored responses, with the replies that the journal has. Texts are not kept in memory."""
    texts = defaultdict[str, defaultdict[bytes, list[int]]](lambda: defaultdict(list))
    sizes, scored = dict[bytes, int](), run.state.scores[scoring.column].done
    for sample in run.samples():
        if text := _text(sample, scoring):
            content = text.encode("utf-8", "surrogatepass")
            digest = sha256(content).digest()
            sizes[digest] = len(content)
            texts[sample["question"]][digest].append(sample["sample"])
        else:
            done.empty += 1
    contests = {}
    for question in filter(texts.__contains__, run.questions["question"]):
        by_text = texts[question]
        digests = sorted(by_text)
        copies = [sorted(by_text[digest]) for digest in digests]
        unscored = {number for numbers in copies for number in numbers if (question, number) not in scored}
        if unscored:
            size = sum(sizes[digest] for digest in digests) / len(digests)
            contests[question] = Contest(question, copies, unscored, size, Tournament(len(copies), leaders))
    for reply in read_comparisons(run.folder / JOURNAL, scoring.column):
        if reply.question in contests:
            contests[reply.question].tell(reply)
    return list(contests.values())


def _text(sample: dict[str, Any], scoring: Scoring) -> str:
    return "\n\n".join(split(sample.get("response") or "", scoring.split))


async def score_pairs(
    run: Run,
    scoring: Scoring,
    leaders: int,
    connect: Callable[[], Awaitable[Runner]],
    *,
    max_failures: int,
    progress: Callable[[float], None] = lambda _: None,
) -> Scored:
    """Score all samples without a score; the judge is connected to only if a comparison is missing."""
    done = Scored(before=len(run.state.scores[scoring.column].done), unsampled=len(run.state.samples.failed))
    contests = open_contests(run, scoring, leaders, done)
    check_same(run, scoring, begun=any(contest.tournament.replies for contest in contests))
    left = sum(contest.requests_left()[1] for contest in contests)
    scorer = PairScorer(run, scoring, connect, done, max_failures, lambda replies: progress(min(1.0, replies / left)))
    try:
        for batch in _batches(contests):
            while calls := [call for contest in batch for call in contest.next()]:
                await scorer.compare({contest.question: contest for contest in batch}, calls)
            await scorer.settle(batch)
    finally:
        await scorer.close()
    return done


def _batches(contests: Sequence[Contest]) -> Iterator[list[Contest]]:
    batch, size = list[Contest](), 0
    for contest in contests:
        batch.append(contest)
        size += len(contest.copies)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class PairScorer:
    """Requests comparisons and writes them, and then the scores, to the journal."""

    def __init__(
        self,
        run: Run,
        scoring: Scoring,
        connect: Callable[[], Awaitable[Runner]],
        done: Scored,
        max_failures: int,
        progress: Callable[[int], None],
    ) -> None:
        self.run, self.scoring, self.done, self.max_failures = run, scoring, done, max_failures
        self.progress, self.replies = progress, 0
        self._connect = connect
        self._runner: Runner | None = None
        self._has_note = False
        self._samples = Samples(run)
        self._saving = Saving(run)

    async def compare(self, contests: dict[str, Contest], calls: Sequence[Comparison]) -> None:
        """Request some comparisons."""
        if self._runner is None:
            self._runner = await self._connect()
            self.done.found = self._runner.found
            await self._add_note()
        async with aclosing(self._runner.score(self._items(calls))) as results:
            async for item, result in results:
                contest = contests[item.sample["question"]]
                if isinstance(result, str):
                    contest.failure = result
                    count(self.done, result, self.max_failures)
                    continue
                reply = Comparison(**item.sample, p=result.steps[0] if result.steps else None)
                billed = None if result.usage is None else usage_field({"completion_tokens": 0, **result.usage}, 0)
                await self._saving.add(reply.note(self.scoring.column) | ({FIELD: billed} if billed else {}))
                contest.tell(reply)
                self.replies += 1
                self.progress(self.replies)
                if billed:
                    self.done.spent += usage_from_field(billed)

    async def settle(self, contests: Sequence[Contest]) -> None:
        """Write the scores of questions whose comparisons are complete, and the failures of the others."""
        await self._saving.finish()  # no score is on the disk before its comparisons
        await self._add_note()
        for contest in contests:
            for number, result in contest.results():
                item = Item("", [], {"question": contest.question, "sample": number})
                await self._saving.add(record_of(self.scoring, item, result))
                if contest.failure is None or contest.failure == LATE:  # failed requests were counted
                    count(self.done, result, self.max_failures)
            if contest.failure is None:
                outcomes = list(contest.tournament.outcomes().values())
                self.done.comparisons += len(outcomes)
                self.done.ties += outcomes.count(0.5)
                self.done.unreadable += outcomes.count(None)

    async def close(self) -> None:
        """Wait until everything is on the disk, and close the judge."""
        await self._saving.finish()
        self._samples.close()
        if self._runner:
            await self._runner.close()

    async def _add_note(self) -> None:
        """Record the settings once, before the first comparison or score."""
        if not self._has_note:
            await self.run.add({"kind": "note", "about": "score", **asdict(self.scoring), "found": self.done.found})
            self._has_note = True

    def _items(self, calls: Sequence[Comparison]) -> Iterator[Item]:
        """The two texts of each comparison, read from the journal lazily."""
        for question, first, second, _ in calls:
            texts = [_text(self._samples.of((question, number)), self.scoring) for number in (first, second)]
            key = {"question": question, "first": first, "second": second}
            yield Item(self._samples.prompts.get(question) or "", texts, key)
