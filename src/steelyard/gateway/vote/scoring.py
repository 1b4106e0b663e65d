"""The scores of a request's samples, by a verifier or from the LLM's own log-probabilities.

If a verifier fails on any sample, its other scores are ignored as well: the vote is then exactly the one without
scores, and the reply says so. A score is matched to its sample by identity, never by position.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from steelyard.foundation.errors import SteelyardError
from steelyard.gateway.limits.request_budget import NO_USAGE, ScoreUsage
from steelyard.gateway.upstream.samples import Sample
from steelyard.sampling.ask.sample_votes import probability_of
from steelyard.sampling.interrupts import cancel_and_wait
from steelyard.sampling.llm.prices import Prices, price_of
from steelyard.sampling.verifiers.scored_items import Item, Runner, Scores, split
from steelyard.tables.score_spelling import Score, parse_score

AGAIN = 1.0  # seconds until a failed connection is retried
SHARE = 0.5  # of a request's remaining time, for one score


class ScoringError(Exception):
    """A sample has no score; the reason is one line."""


class Scored(NamedTuple):
    """The score of a sample in [0, 1], None if it has none, and the tokens that it took, if known."""

    score: float | None
    usage: Mapping[str, Any] | None = None


async def scored(scorer: Scorer, question: str, sample: Sample, until: float) -> Sample:
    """A sample with its score, or with the reason for which it has none."""
    try:
        result = await scorer.score(question, sample, until)
        return sample._replace(score=result.score, scoring=result.usage)
    except ScoringError as error:
        return sample._replace(unscored=str(error))


class OwnLogprob:
    """exp(mean log-probability) of the sampled tokens, which needs no request."""

    logprobs = True  # the scores are computed from the log-probabilities of the samples
    priced_as = None  # no upstream is asked

    async def score(self, question: str, sample: Sample, until: float) -> Scored:  # noqa: ARG002
        """Read it from the sample, as `ask` does."""
        return Scored(probability_of(sample.choice))

    def score_usage(self, question: str, prices: Prices) -> ScoreUsage:  # noqa: ARG002
        return NO_USAGE


class VerifierConnection:
    """A verifier, in this process or behind an address, connected when first needed."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Runner]],
        *,
        timeout: float,
        priced_as: str | None = None,  # the name of the upstream that gives the scores
        usage_per_score: Callable[[str], ScoreUsage] = lambda _: NO_USAGE,
    ) -> None:
        self.timeout, self.priced_as, self._usage_per_score = timeout, priced_as, usage_per_score
        self.problem: str | None = None  # why it could not be connected to
        self._connect = connect
        self._runner: Runner | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._failed = -AGAIN

    @asynccontextmanager
    async def within(self, until: float, result: str) -> AsyncIterator[Runner]:
        """The runner, for a share of the time that is left; any failure is a ScoringError. `result`: what it gives."""
        limit = min(self.timeout, SHARE * (until - time.monotonic()))
        try:
            async with asyncio.timeout(limit):
                yield await self.connected()
        except TimeoutError:
            raise ScoringError(f"no {result} within {max(0, limit):.3g} s") from None
        except ScoringError:
            raise
        except SteelyardError as error:
            raise ScoringError(str(error)) from None
        except Exception as error:  # the request continues without the verifier
            raise ScoringError(f"the verifier failed: {type(error).__name__}") from error

    def score_usage(self, question: str, prices: Prices) -> ScoreUsage:
        """All tries of one score together; a token of the response counts as one token of the verifier."""
        price = None if self.priced_as is None else price_of(prices, self.priced_as)
        return self._usage_per_score(question)._replace(price=price)

    async def connected(self) -> Runner:
        """The runner; concurrent callers wait for the same connection."""
        if self._runner is None and time.monotonic() - self._failed >= AGAIN:
            if self._connecting is None or self._connecting.done():
                self._connecting = asyncio.create_task(self._try())
            await asyncio.shield(self._connecting)
        if self._runner is None:
            raise ScoringError(self.problem or "the verifier is not available")
        return self._runner

    async def close(self) -> None:
        if self._connecting:
            await cancel_and_wait(self._connecting)
        if self._runner:
            await self._runner.close()

    async def _try(self) -> None:
        try:
            self._runner = await self._connect()
            self.problem = None
        except SteelyardError as error:
            self.problem, self._failed = str(error), time.monotonic()
        except Exception as error:
            self.problem, self._failed = f"the verifier failed: {type(error).__name__}", time.monotonic()
            raise ScoringError(self.problem) from error


class Verified(VerifierConnection):
    """A verifier that scores one sample at a time."""

    logprobs = False

    def __init__(self, connect: Callable[[], Awaitable[Runner]], *, score: str, split: str, **settings: Any) -> None:
        super().__init__(connect, **settings)
        self._split = split
        spelling = parse_score(score) or Score(score, None)
        self._spelling = spelling if spelling.reducer else replace(spelling, reducer="last")

    async def score(self, question: str, sample: Sample, until: float) -> Scored:
        """Request the scores of the steps, and reduce them as the plan's score does; raises a ScoringError."""
        steps = split(sample.choice.text, self._split) if sample.choice else []
        if not sample.choice or not steps:
            return Scored(None)
        async with self.within(until, "score") as runner:
            scores = await _scores(runner, Item(question, steps, {"logprob": sample.choice.logprob}))
        return Scored(reduce_steps(scores, self._spelling), scores.usage)


Scorer = OwnLogprob | Verified


async def _scores(runner: Runner, item: Item) -> Scores:
    """The scores of one response."""
    async with aclosing(runner.score(iter([item]))) as results:
        async for item_scored, result in results:
            if item_scored is not item:
                raise ScoringError("the verifier scored another response")
            if isinstance(result, str):
                raise ScoringError(result)
            return result
    raise ScoringError("the verifier gave no score")


def reduce_steps(scores: Scores, spelling: Score) -> float:
    """Reduce the scores of the steps to one number, as a table's score column is read.

    >>> reduce_steps(Scores([0.9, 0.5, 0.7]), Score("prm", "min"))
    0.5
    >>> reduce_steps(Scores([0.9, 0.5]), Score("prm", "mean"))
    0.7
    """
    if not (spelling.function or spelling.span or spelling.flipped):  # a shortcut for common cases
        if len(scores.steps) == 1 or spelling.reducer == "last":
            return scores.steps[-1]
        if spelling.reducer == "min":
            return min(scores.steps)
    steps = pl.Series(spelling.column, [scores.steps], pl.List(pl.Float64)).to_frame()
    return float(steps.select(spelling.expression()).item())
