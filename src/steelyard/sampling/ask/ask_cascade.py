"""One question along a plan's cascade: a step asks its upstreams at once, and the next one waits for what they say.

The plan's ballot decides whom to ask, by the order of the cascade and the numbers of samples, never by who was quick.
An upstream that gives nothing, or that is not there, is a source that does not answer: the cascade goes on without it.
"""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from typing import Protocol, TypeVar

from steelyard.foundation.errors import PlanError, SettingError, SteelyardWarning, did_you_mean
from steelyard.sampling.ask.ask import answer_of, in_order
from steelyard.sampling.ask.ask_upstreams import Asking, together
from steelyard.sampling.llm.draws import Draw
from steelyard.sampling.online.ballot import Ballot
from steelyard.sampling.online.standing import Standing
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.source_vote import SourceVote
from steelyard.voting.stopping.cascade import Cascade

Asked = TypeVar("Asked")
Came = TypeVar("Came")


def cascade_for(voter: Method | None, names: Sequence[str], n: int | None) -> Cascade | None:
    """The cascade that a plan has for these upstreams, after a look at their names; None for a plan without one."""
    cascade = voter.cascade_ if voter else None
    if voter is None or cascade is None:
        return None
    known = tuple(voter.weights_) if isinstance(voter, SourceVote) else cascade.sources
    for name in names:
        if name not in known:
            raise SettingError(f"the plan knows no source {name!r} to ask: {did_you_mean(name, known)}")
    here = [name for name in cascade.sources if name in names]
    if not here:
        raise PlanError(f"the plan's cascade asks {', '.join(cascade.sources)}, and no upstream is named so")
    if missing := [name for name in cascade.sources if name not in names]:
        _warn(
            f"no upstream is named {', '.join(missing)}, which the plan's cascade may ask: it goes on as if there were "
            "no answer"
        )
    if n is not None and any(cascade.samples_of(name) != n for name in here):
        each = ", ".join(f"{name} {cascade.samples_of(name)}" for name in here)
        _warn(f"the plan's cascade says how many samples to draw ({each}), so -n {n} is not used")
    return cascade


class HasStanding(Protocol):
    """A ballot, by its standing alone."""

    @property
    def standing(self) -> Standing: ...


async def along(
    ballot: HasStanding, here: Mapping[str, Asked], ask: Callable[[list[Asked]], AsyncGenerator[Came]]
) -> AsyncGenerator[Came]:
    """Ask as the ballot says and yield what comes: whoever takes it counts it before the next.

    The samples of a source that is not `here` are counted before it begins, as those of one that gives nothing.
    """
    while now := ballot.standing.next:
        async with aclosing(ask([here[name] for name in now])) as coming:
            async for came in coming:
                yield came


def absent_samples(cascade: Cascade, here: Collection[str]) -> list[tuple[str, int]]:
    """The sources that the cascade may ask and that are not there, with the number of each sample that they owe."""
    absent = [name for name in cascade.sources if name not in here]
    return [(name, sample) for name in absent for sample in range(cascade.samples_of(name))]


async def in_turn(
    asking: Sequence[Asking], ballot: Ballot, cascade: Cascade, kind: str, progress: Callable[[Draw], None]
) -> list[Draw]:
    """Ask as the cascade says, and return what came; `kind` is how answers are read."""
    by_name, came = {each.name: each for each in asking}, list[Draw]()
    for name, sample in absent_samples(cascade, by_name):
        ballot.add(None, sample=sample, source=name)
    async with aclosing(along(ballot, by_name, together)) as coming:
        async for draw in coming:
            progress(draw)
            came.append(draw)
            answer = answer_of(draw, kind)
            ballot.add(answer, sample=draw.sample, source=draw.source)
    return in_order(came)


def _warn(text: str) -> None:
    warnings.warn(text, SteelyardWarning, stacklevel=4)
