"""Asks one question along a plan's cascade: each step asks its upstreams at once and waits for their answers.

The plan's ballot decides which upstream is next, by the order of the cascade and the numbers of samples, never by which
answered first. An upstream that gives nothing, or is missing, is a source without an answer: the cascade continues.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from steelyard.answers.extract import kind_of
from steelyard.foundation.errors import PlanError, SettingError, SteelyardWarning, did_you_mean
from steelyard.sampling.ask.sample_stream import Draw, SampleRequest, together
from steelyard.sampling.ask.sample_votes import AnswerTotal, Entered, Outcome, Vote, answer_of, in_order
from steelyard.sampling.online.ballot import Ballot
from steelyard.sampling.online.cascade_walk import BallotState, check_cascade
from steelyard.tables.columns import CHARACTERS
from steelyard.voting.fitting.answer_odds import Panel
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.source_vote import SourceVote
from steelyard.voting.pools.pool import Pool
from steelyard.voting.stopping.cascade import Cascade
from steelyard.voting.tally import answer_totals

Request = TypeVar("Request")
Sample = TypeVar("Sample")
CASCADE = "cascade"  # what its votes are by
SKIPPED = "the cascade never asks it"
ABSENT = "no upstream has its name"


def cascade_for(voter: Method | None, names: Sequence[str], n: int | None) -> Cascade | None:
    """The cascade of a plan, checked against the names of the upstreams; None for a plan without one."""
    cascade = voter.cascade_ if voter else None
    if voter is None or cascade is None:
        return None
    if voter.fitted_on_ and voter.fitted_on_.answers:
        check_cascade(kind_of(voter.fitted_on_.answers))
    sources = tuple(voter.weights_) if isinstance(voter, SourceVote) else cascade.sources
    for name in names:
        if name not in sources:
            raise SettingError(f"the plan has no source {name!r}: {did_you_mean(name, sources)}")
    here = [name for name in cascade.sources if name in names]
    if not here:
        raise PlanError(f"the plan's cascade asks {', '.join(cascade.sources)}, but no upstream has one of these names")
    if missing := [name for name in cascade.sources if name not in names]:
        warn(
            f"no upstream is named {', '.join(missing)}, which the plan's cascade may ask: continuing as if there were "
            "no answer"
        )
    if n is not None and any(cascade.samples_of(name) != n for name in here):
        counts = ", ".join(f"{name} {cascade.samples_of(name)}" for name in here)
        warn(f"the plan's cascade says how many samples to draw ({counts}), so -n {n} is not used")
    return cascade


async def along(
    next_sources: Callable[[], Sequence[str]],
    here: Mapping[str, Request],
    ask: Callable[[list[Request]], AsyncGenerator[Sample]],
) -> AsyncGenerator[Sample]:
    """Ask the sources that a ballot names next, and yield their samples; the caller adds each to the ballot.

    The samples of sources that are not `here` must have been added before, without an answer.
    """
    while now := next_sources():
        async with aclosing(ask([here[name] for name in now])) as stream:
            async for sample in stream:
                yield sample


def absent_samples(cascade: Cascade, here: Collection[str]) -> list[tuple[str, int]]:
    """The samples, as (source, number), of the sources of a cascade that no upstream stands for."""
    absent = [name for name in cascade.sources if name not in here]
    return [(name, sample) for name in absent for sample in range(cascade.samples_of(name))]


async def in_turn(
    requests: Sequence[SampleRequest], ballot: Ballot, cascade: Cascade, kind: str, progress: Callable[[Draw], None]
) -> list[Draw]:
    """Ask the upstreams in the order of the cascade, and return the samples; `kind` is how answers are read."""
    by_name, samples = {request.name: request for request in requests}, list[Draw]()
    for name, sample in absent_samples(cascade, by_name):
        ballot.add(None, sample=sample, source=name)
    async with aclosing(along(lambda: ballot.state.next, by_name, together)) as stream:
        async for draw in stream:
            progress(draw)
            samples.append(draw)
            answer = answer_of(draw, kind)
            ballot.add(answer, sample=draw.sample, source=draw.source)
    return in_order(samples)


def warn(text: str) -> None:
    """Warn about a plan, at the call of the function that has checked it."""
    warnings.warn(text, SteelyardWarning, stacklevel=4)


class Turn(NamedTuple):
    """One source of a cascade: whether it was asked and why, its samples and their cost."""

    source: str
    sampled: bool
    why: str
    samples: int = 0
    tokens: float = 0.0  # as the server counts them, else the characters / 4
    cost: float | None = None  # by the plan's prices; None where it has none


@dataclass(frozen=True)
class CascadeTurns:
    """The turns of the sources of a cascade for one question."""

    described: str
    turns: list[Turn]

    @property
    def cost(self) -> float | None:
        """What the question cost; None where the plan has no prices."""
        costs = [turn.cost for turn in self.turns if turn.sampled and turn.cost is not None]
        return sum(costs) if costs else None


def cascade_outcome(pool: Pool, entered: Sequence[Entered], cascade: Cascade, state: BallotState) -> Outcome:
    """Vote on the samples `entered`, the responses of the pool, by what the cascade has learned about their sources."""
    panel = Panel.of(pool)
    replayed = cascade.replay(panel)
    sampled = _sampled(cascade, panel)
    odds = dict(zip(sampled, cascade.odds[sampled], strict=False))
    samples = Counter(one.source for one in entered)
    weights = np.array([odds[one.source] / samples[one.source] for one in entered])
    names = [] if pool.names is None else list(pool.names)
    total, votes = answer_totals(pool, weights)
    totals = [AnswerTotal(str(name), int(votes[k]), float(total[k])) for k, name in enumerate(names)]
    return Outcome(
        answer=None if replayed.row[0] < 0 else names[int(panel.code[replayed.row[0]])],
        confidence=float(replayed.confidence[0]),
        share=state.share,
        margin=state.margin,
        answers=sorted(totals, key=lambda one: (-one.weight, -one.votes)),
        votes=[
            Vote(one.sample, names[code], one.score, weight, None, one.source)
            if code >= 0
            else Vote(one.sample, None, one.score, None, None, one.source)
            for one, code, weight in zip(entered, pool.answer.tolist(), weights.tolist(), strict=True)
        ],
        none_correct=None,
    )


def turns_of(pool: Pool, draws: Sequence[Draw], cascade: Cascade, upstreams: Sequence[str]) -> CascadeTurns:
    """For every source of the cascade, and every upstream, whether it was asked and why."""
    panel = Panel.of(pool)
    sampled = _sampled(cascade, panel)
    turns = []
    for name in cascade.sources:
        if name in sampled and name in upstreams:
            turns.append(_turn(name, [draw for draw in draws if draw.source == name], cascade))
        else:
            turns.append(Turn(name, False, ABSENT if name in sampled else _passed(name, cascade, panel)))
    turns += [Turn(name, False, SKIPPED) for name in upstreams if name not in cascade.sources]
    return CascadeTurns(cascade.described(), turns)


def _sampled(cascade: Cascade, panel: Panel) -> tuple[str, ...]:
    """The sources that were asked, sorted, including those without a sample in the panel."""
    names = panel.names + tuple(name for name in cascade.sources if name not in panel.names)
    return tuple(sorted(name for name, was in zip(names, cascade.replay(panel).sampled[0], strict=True) if was))


def _turn(name: str, draws: Sequence[Draw], cascade: Cascade) -> Turn:
    samples = [draw.choice for draw in draws if draw.choice]
    tokens = sum(len(c.text) / CHARACTERS if c.tokens is None else c.tokens for c in samples)
    why = next(iter({draw.reason or "" for draw in draws if not draw.choice}), "") if not samples else ""
    cost = cascade.origin.cost(name, tokens=tokens, samples=len(samples))
    return Turn(name, True, f"it gave no sample: {why}" if why else "its turn came", len(samples), tokens, cost)


def _passed(name: str, cascade: Cascade, panel: Panel) -> str:
    """Why a source was not asked: at which confidence it would have been, and the confidence at that point."""
    index = next(i for i, step in enumerate(cascade.steps) if name in step.sources)
    before = replace(cascade, steps=cascade.steps[:index]).replay(panel)
    step = cascade.steps[index]
    return f"asked only {step.where()}, and it was {float(before.confidence[0]):.3f}"
