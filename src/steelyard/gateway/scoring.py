"""The scores of a request's samples: by a verifier, or what the LLM's own log-probabilities say.

A verifier that fails on any sample is not believed on the others either: the vote is then exactly the one without
scores, and the reply says so. Which score belongs to which sample is known by the sample itself, never by its place.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from math import exp
from typing import Protocol

import polars as pl

from steelyard.errors import SteelyardError
from steelyard.gateway.samples import Sample
from steelyard.tables.score_spelling import Score, spelled
from steelyard.verifiers.scored_items import Item, Runner, Scores
from steelyard.verifiers.step_splits import split


class ScoringError(Exception):
    """A sample has no score; the reason is one line."""


class Scorer(Protocol):
    """Scores samples. `logprobs` says whether it is made of the log-probabilities of the samples."""

    logprobs: bool

    async def score(self, question: str, sample: Sample) -> float | None:
        """The score of a sample in [0, 1], None where there is none; a ScoringError where there should be one."""
        ...


class OwnLogprob:
    """exp(mean log-probability) of the sampled tokens, which asks nobody."""

    logprobs = True

    async def score(self, question: str, sample: Sample) -> float | None:  # noqa: ARG002
        """Read it from the sample, as `ask` does."""
        if sample.choice is None or sample.choice.logprob is None:
            return None
        return min(1.0, exp(sample.choice.logprob))


class Verified:
    """A verifier of the `verifiers` room, in this process or behind an address."""

    logprobs = False

    def __init__(self, runner: Runner, *, name: str, how: str, timeout: float) -> None:
        self.runner, self.timeout = runner, timeout
        self._split = how
        spelling = spelled(name) or Score(name, None)
        self._spelling = spelling if spelling.reducer else replace(spelling, reducer="last")

    async def score(self, question: str, sample: Sample) -> float | None:
        """Ask for the scores of the steps, and reduce them as the plan's score does."""
        if sample.choice is None:
            return None
        steps = split(sample.choice.text, self._split)
        if not steps:
            return None
        item = Item(question, steps, {"logprob": sample.choice.logprob})
        try:
            async with asyncio.timeout(self.timeout):
                return reduced(await self._scores(item), self._spelling)
        except TimeoutError:
            raise ScoringError(f"no score within {self.timeout:g} s") from None
        except SteelyardError as error:
            raise ScoringError(str(error)) from None

    async def _scores(self, item: Item) -> Scores:
        async with aclosing(self.runner.score(iter([item]))) as results:
            async for scored, result in results:
                if scored is not item:
                    raise ScoringError("the verifier scored another response")
                if isinstance(result, str):
                    raise ScoringError(result)
                return result
        raise ScoringError("the verifier gave no score")


def reduced(scores: Scores, spelling: Score) -> float:
    """One number of the scores of steps, by the expression that reads a table's column of them."""
    steps = pl.Series(spelling.column, [scores.steps], pl.List(pl.Float64)).to_frame()
    return float(steps.select(spelling.expression()).item())
