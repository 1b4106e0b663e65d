"""Has a judge compare the samples of a run, question by question: durable, and no request twice.

The result is a score per sample, or its judgements: the probabilities that others of its question mean the same.

Every reply is written to the journal as soon as it arrives, so a process that is killed loses only the requests under
way. The results of a question follow when all its comparisons are there. Equal texts are one response. Responses are
ordered by a hash of their texts: the order in which they were sampled decides nothing.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, closing
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.answers.kinds.free import KIND
from steelyard.answers.similarities.judged import WORDS
from steelyard.answers.similarities.similarity import find_similarity
from steelyard.foundation.judgements import text_key
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.runs.comparison_records import Comparison, read_comparisons
from steelyard.runs.run import JOURNAL, Run
from steelyard.runs.token_usage import FIELD, usage_field, usage_from_field
from steelyard.sampling.score.frugal_score import Samples
from steelyard.sampling.score.score_samples import Saving, Scored, Scoring, check_same, count, record_of
from steelyard.sampling.verifiers.leaders import LeaderComparisons
from steelyard.sampling.verifiers.protocol import MeaningProtocol, PairProtocol
from steelyard.sampling.verifiers.scored_items import Item, Runner, Scores, split
from steelyard.sampling.verifiers.tournament import Pair, Tournament

BATCH = 256  # responses of the questions that are compared at the same time
UNREADABLE = "no comparison with it is readable"
LATE = "it was sampled after its question was scored, and scores compare all responses: name another column with --as"


@dataclass
class Contest:
    """The responses of one question. `copies` has the samples of each text; `size` is the mean length of a text.

    `keys` are the names of the texts in judgements, and `schedule` decides which texts are compared.
    """

    question: str
    copies: list[list[int]]
    keys: list[str]
    unscored: set[int]
    size: float
    schedule: Tournament | LeaderComparisons
    failure: str | None = None  # why it has no scores now

    @cached_property
    def player_of(self) -> dict[int, int]:
        """The player of each sample."""
        return {number: player for player, numbers in enumerate(self.copies) for number in numbers}

    def next(self) -> list[Comparison]:
        """The comparisons to request now, without their results; none after a failure."""
        if self.failure is None and len(self.unscored) < len(self.player_of) and self.schedule.next():
            self.failure = LATE
        calls: list[Pair] = [] if self.failure else self.schedule.next()
        return [Comparison(self.question, self.copies[a][0], self.copies[b][0], None) for a, b in calls]

    def tell(self, reply: Comparison) -> None:
        """Add a reply; the first one counts."""
        first, second = self.player_of.get(reply.first), self.player_of.get(reply.second)
        if first is not None and second is not None:
            self.schedule.replies.setdefault((first, second), reply.p)

    def requests_left(self) -> Pair:
        """The fewest and the most requests that are left."""
        low, high = self.schedule.comparison_range()
        replies = len(self.schedule.replies)
        return max(0, 2 * low - replies), max(0, 2 * high - replies)

    def results(self) -> Iterator[tuple[int, Scores | str]]:
        """The score or the judgements of each unscored sample, or why it has none."""
        for numbers, result in zip(self.copies, self._results(), strict=True):
            for number in self.unscored.intersection(numbers):
                yield number, self.failure or result

    def _results(self) -> Iterator[Scores | str]:
        if isinstance(self.schedule, Tournament):
            yield from (UNREADABLE if score is None else Scores([score]) for score in self.schedule.scores())
            return
        for judged in self.schedule.judged():
            named = {self.keys[other]: p for other, p in judged.items()}
            yield Scores([], judgements=named) if named or len(self.keys) == 1 else UNREADABLE


def open_contests(
    run: Run, scoring: Scoring, protocol: PairProtocol, done: Scored, samples: Samples | None = None
) -> list[Contest]:
    """The questions with unscored responses, with the replies that the journal has. Texts are not kept in memory.

    `samples` reads them again where they are needed to decide which of them are compared.
    """
    texts = defaultdict[str, defaultdict[str, list[int]]](lambda: defaultdict(list))
    sizes, scored = dict[str, int](), run.state.scores[scoring.column].done
    for sample in run.samples():
        if text := _text(sample, scoring, protocol):
            key = text_key(text)
            sizes[key] = len(text.encode("utf-8", "surrogatepass"))
            texts[sample["question"]][key].append(sample["sample"])
        else:
            done.empty += 1
    contests = {}
    for question in filter(texts.__contains__, run.questions["question"]):
        by_text = texts[question]
        keys = sorted(by_text)
        copies = [sorted(by_text[key]) for key in keys]
        unscored = {number for numbers in copies for number in numbers if (question, number) not in scored}
        if unscored:
            schedule: Tournament | LeaderComparisons = Tournament(len(copies), protocol.leaders)
            if isinstance(protocol, MeaningProtocol):
                compare_words = partial(_word_similarity, samples, question, copies, scoring, protocol)
                schedule = LeaderComparisons([*map(len, copies)], protocol.leaders, compare_words)
            size = sum(sizes[key] for key in keys) / len(keys)
            contests[question] = Contest(question, copies, keys, unscored, size, schedule)
    for reply in read_comparisons(run.folder / JOURNAL, scoring.column):
        if reply.question in contests:
            contests[reply.question].tell(reply)
    return list(contests.values())


def _text(sample: dict[str, Any], scoring: Scoring, protocol: PairProtocol) -> str:
    """The text that is compared; for meanings the answer of a vote on free text, none if the response declines."""
    response = sample.get("response") or ""
    if isinstance(protocol, MeaningProtocol):
        return KIND.extract(replace_surrogates(response)).answer or ""
    return "\n\n".join(split(response, scoring.split))


def _word_similarity(
    samples: Samples | None, question: str, copies: Sequence[Sequence[int]], scoring: Scoring, protocol: PairProtocol
) -> NDArray[np.float32]:
    """The similarities of the words of all texts of a question."""
    if samples is None:
        raise AssertionError("an estimate compares no words")
    texts = [_text(samples.of((question, numbers[0])), scoring, protocol) for numbers in copies]
    return find_similarity(WORDS).matrix(texts, samples.prompts.get(question))


async def score_pairs(
    run: Run,
    scoring: Scoring,
    protocol: PairProtocol,
    connect: Callable[[], Awaitable[Runner]],
    *,
    max_failures: int,
    progress: Callable[[float], None] = lambda _: None,
) -> Scored:
    """Score all samples without a score; the judge is connected to only if a comparison is missing."""
    done = Scored(before=len(run.state.scores[scoring.column].done), unsampled=len(run.state.samples.failed))
    with closing(Samples(run)) as samples:
        contests = deque(open_contests(run, scoring, protocol, done, samples))
        check_same(run, scoring, begun=any(contest.schedule.replies for contest in contests))
        left = sum(contest.requests_left()[1] for contest in contests)

        def report(replies: int) -> None:
            progress(min(1.0, replies / left))

        scorer = PairScorer(run, scoring, protocol, samples, connect, done, max_failures, report)
        try:
            for batch in _batches(contests):
                while calls := [call for contest in batch for call in contest.next()]:
                    await scorer.compare({contest.question: contest for contest in batch}, calls)
                await scorer.settle(batch)
        finally:
            await scorer.close()
    return done


def _batches(contests: deque[Contest]) -> Iterator[list[Contest]]:
    """Take the questions out, some at a time, so that those that are done need no memory."""
    batch, size = list[Contest](), 0
    while contests:
        batch.append(contests.popleft())
        size += len(batch[-1].copies)
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
        protocol: PairProtocol,
        samples: Samples,
        connect: Callable[[], Awaitable[Runner]],
        done: Scored,
        max_failures: int,
        progress: Callable[[int], None],
    ) -> None:
        self.run, self.scoring, self.done, self.max_failures = run, scoring, done, max_failures
        self._protocol, self._samples = protocol, samples
        self.progress, self.replies = progress, 0
        self._connect = connect
        self._runner: Runner | None = None
        self._has_note = False
        self._saving = Saving(run)

    async def compare(self, contests: dict[str, Contest], calls: Sequence[Comparison]) -> None:
        """Request some comparisons."""
        if self._runner is None:
            self._runner = await self._connect()
            self.done.detected = self._runner.detected
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
                outcomes = list(contest.schedule.outcomes().values())
                self.done.comparisons += len(outcomes)
                self.done.ties += contest.schedule.ties()
                self.done.unreadable += outcomes.count(None)

    async def close(self) -> None:
        """Wait until everything is on the disk, and close the judge."""
        await self._saving.finish()
        if self._runner:
            await self._runner.close()

    async def _add_note(self) -> None:
        """Record the settings once, before the first comparison or score."""
        if not self._has_note:
            await self.run.add({"kind": "note", "about": "score", **asdict(self.scoring), "found": self.done.detected})
            self._has_note = True

    def _items(self, calls: Sequence[Comparison]) -> Iterator[Item]:
        """The two texts of each comparison, read from the journal lazily."""
        for question, first, second, _ in calls:
            texts = [
                _text(self._samples.of((question, number)), self.scoring, self._protocol) for number in (first, second)
            ]
            key = {"question": question, "first": first, "second": second}
            yield Item(self._samples.prompts.get(question) or "", texts, key)
