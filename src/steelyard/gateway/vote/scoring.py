"""The scores of a request's samples: by a verifier, or what the LLM's own log-probabilities say.

A verifier that fails on any sample is not believed on the others either: the vote is then exactly the one without
scores, and the reply says so. Which score belongs to which sample is known by the sample itself, never by its place.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import polars as pl

from steelyard.foundation.errors import SteelyardError
from steelyard.gateway.limits.worst_case import NOTHING, Reading
from steelyard.gateway.messages.samples import Sample
from steelyard.sampling.ask.ask import probability_of
from steelyard.sampling.llm.prices import Prices, price_of
from steelyard.sampling.verifiers.scored_items import Item, Runner, Scores
from steelyard.sampling.verifiers.step_splits import split
from steelyard.tables.score_spelling import Score, parse_score

AGAIN = 1.0  # seconds until a connection that failed is tried again
SHARE = 0.5  # of the time that a request has left, for one score


class ScoringError(Exception):
    """A sample has no score; the reason is one line."""


class Scored(NamedTuple):
    """The score of a sample in [0, 1], None where there is none, and the tokens that it took, where that is known."""

    score: float | None
    usage: Mapping[str, Any] | None = None


class Scorer(Protocol):
    """Scores samples. `logprobs` says whether the scores are made of the log-probabilities of the samples.

    `priced_as` is the name of the upstream that is asked for the scores; None: nobody of them is.
    """

    logprobs: bool
    priced_as: str | None

    async def score(self, question: str, sample: Sample, until: float) -> Scored:
        """The score of a sample; a ScoringError where there should be one."""
        ...

    def reading(self, question: str, prices: Prices) -> Reading:
        """What a server is billed for one score at worst."""
        ...


async def scored(scorer: Scorer, question: str, sample: Sample, until: float) -> Sample:
    """A sample with its score, or with the reason why the verifier gave none."""
    try:
        found = await scorer.score(question, sample, until)
        return sample._replace(score=found.score, scoring=found.usage)
    except ScoringError as error:
        return sample._replace(unscored=str(error))


class OwnLogprob:
    """exp(mean log-probability) of the sampled tokens, which asks nobody."""

    logprobs = True
    priced_as: str | None = None

    async def score(self, question: str, sample: Sample, until: float) -> Scored:  # noqa: ARG002
        """Read it from the sample, as `ask` does."""
        return Scored(probability_of(sample.choice))

    def reading(self, question: str, prices: Prices) -> Reading:  # noqa: ARG002
        """Nobody is asked."""
        return NOTHING


class Verified:
    """A verifier of the `verifiers` room, in this process or behind an address, connected to when first needed."""

    logprobs = False

    def __init__(
        self,
        connect: Callable[[], Awaitable[Runner]],
        *,
        score: str,
        split: str,
        timeout: float,
        priced_as: str | None = None,
        reads: Callable[[str], Reading] = lambda _: NOTHING,
    ) -> None:
        self.timeout, self.priced_as, self._reads = timeout, priced_as, reads
        self.problem: str | None = None  # why it could not be connected to
        self._connect, self._split = connect, split
        self._runner: Runner | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._failed = -AGAIN
        spelling = parse_score(score) or Score(score, None)
        self._spelling = spelling if spelling.reducer else replace(spelling, reducer="last")

    async def score(self, question: str, sample: Sample, until: float) -> Scored:
        """Ask for the scores of the steps, and reduce them as the plan's score does."""
        steps = split(sample.choice.text, self._split) if sample.choice else []
        if not sample.choice or not steps:
            return Scored(None)
        limit = min(self.timeout, SHARE * (until - time.monotonic()))
        try:
            async with asyncio.timeout(limit):
                runner = await self.connected()
                scores = await _scores(runner, Item(question, steps, {"logprob": sample.choice.logprob}))
        except TimeoutError:
            raise ScoringError(f"no score within {limit:.3g} s") from None
        except ScoringError:
            raise
        except SteelyardError as error:
            raise ScoringError(str(error)) from None
        except Exception as error:  # whatever a verifier does, the request goes on without it
            raise ScoringError(f"the verifier failed: {type(error).__name__}") from error
        return Scored(reduced(scores, self._spelling), scores.usage)

    def reading(self, question: str, prices: Prices) -> Reading:
        """All tries of one score together; a token of the response is taken for one of the verifier's."""
        price = None if self.priced_as is None else price_of(prices, self.priced_as)
        return self._reads(question)._replace(price=price)

    async def connected(self) -> Runner:
        """The runner; whoever needs it waits for the same connection."""
        if self._runner is None and time.monotonic() - self._failed >= AGAIN:
            if self._connecting is None or self._connecting.done():
                self._connecting = asyncio.create_task(self._try())
            await asyncio.shield(self._connecting)
        if self._runner is None:
            raise ScoringError(self.problem or "the verifier is not there")
        return self._runner

    async def close(self) -> None:
        """Let go of the verifier."""
        if self._connecting and not self._connecting.done():
            self._connecting.cancel()
            await asyncio.gather(self._connecting, return_exceptions=True)
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


async def _scores(runner: Runner, item: Item) -> Scores:
    """The scores of one response, which is known by itself."""
    async with aclosing(runner.score(iter([item]))) as results:
        async for item_scored, result in results:
            if item_scored is not item:
                raise ScoringError("the verifier scored another response")
            if isinstance(result, str):
                raise ScoringError(result)
            return result
    raise ScoringError("the verifier gave no score")


def reduced(scores: Scores, spelling: Score) -> float:
    """One number of the scores of steps, by the expression that reads a table's column of them.

    >>> reduced(Scores([0.9, 0.5, 0.7]), Score("prm", "min")), reduced(Scores([0.9, 0.5]), Score("prm", "mean"))
    (0.5, 0.7)
    """
    if not (spelling.function or spelling.span or spelling.flipped):  # without a table where that is the same number
        if len(scores.steps) == 1 or spelling.reducer == "last":
            return scores.steps[-1]
        if spelling.reducer == "min":
            return min(scores.steps)
    steps = pl.Series(spelling.column, [scores.steps], pl.List(pl.Float64)).to_frame()
    return float(steps.select(spelling.expression()).item())
