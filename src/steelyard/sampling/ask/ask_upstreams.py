"""The samples of one question from one upstream, or from several at once: one that gives nothing does not vote."""

from __future__ import annotations

import warnings
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import NamedTuple

from steelyard.foundation.errors import SteelyardWarning, UpstreamError
from steelyard.runs.parameters import Sampling
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.draws import Draw, draws
from steelyard.sampling.llm.probe import probe
from steelyard.sampling.llm.reply import Choice
from steelyard.sampling.online.merged_streams import merged


class Asking(NamedTuple):
    """What is asked of an upstream; `needed` is the score that must be there, made of its log-probabilities."""

    name: str  # empty: it is the only one
    address: Address
    sampling: Sampling
    prompt: str
    needed: str | None


async def samples_of(asked: Asking) -> AsyncGenerator[Draw]:
    """Yield the samples of one upstream as they come; without the score that is needed it is an error."""
    async with Client(asked.address) as client:
        able = await probe(client, asked.sampling, wanted=1)
        if asked.needed and not able.logprobs:
            raise UpstreamError(
                f"{asked.address.base} gives no log-probabilities, which the plan's score {asked.needed!r} is made of: "
                "ask another server, or without --plan"
            )
        async with aclosing(draws(client, asked.sampling, able, asked.prompt)) as coming:
            async for draw in coming:
                yield draw._replace(source=asked.name)


def together(asking: Sequence[Asking]) -> AsyncGenerator[Draw]:
    """Yield the samples of several upstreams as they come; those of one that cannot go on have failed."""
    return merged([_going_on(asked) for asked in asking])


async def _going_on(asked: Asking) -> AsyncGenerator[Draw]:
    """Yield every sample of an upstream once, whatever becomes of it."""
    left = set(range(asked.sampling.n))
    try:
        async with aclosing(samples_of(asked)) as coming:
            async for draw in coming:
                left.discard(draw.sample)
                yield draw
    except UpstreamError as error:
        for sample in sorted(left):
            yield Draw(sample, None, str(error), asked.name)


def need_samples(came: list[Draw], asking: Sequence[Asking]) -> None:
    """Without any sample there is nothing to vote on: say why."""
    if not any(draw.choice for draw in came):
        asked = {draw.source for draw in came}
        base = ", ".join(each.address.base for each in asking if each.name in asked)
        raise UpstreamError(f"{base} gave no sample: {came[0].reason}; see 'steelyard doctor'")


def without_silent(came: list[Draw], asking: Sequence[Asking]) -> list[Draw]:
    """The samples without those of upstreams that gave none at all, which is told: such a source does not vote."""
    for asked in asking:
        own = [draw for draw in came if draw.source == asked.name]
        if asked.name and own and not any(draw.choice for draw in own):
            warnings.warn(
                f"{asked.name} gave no sample, so the vote is without it: {own[0].reason}",
                SteelyardWarning,
                stacklevel=2,
            )
            came = [draw for draw in came if draw.source != asked.name]
    return came


def check_scored(came: list[Draw], names: Sequence[str], needed: str | None) -> None:
    """Of several upstreams, tell which gave no log-probabilities for the plan's score; one must give some."""
    without = without_scores((draw.source, draw.choice) for draw in came)
    if not names or not needed or not without:
        return
    if len(without) == len({draw.source for draw in came}):
        raise UpstreamError(
            f"no upstream gives log-probabilities, which the plan's score {needed!r} is made of: ask other servers, or "
            "without --plan"
        )
    warnings.warn(unscored(without, needed), SteelyardWarning, stacklevel=2)


def without_scores(came: Iterable[tuple[str, Choice | None]]) -> list[str]:
    """The sources without any log-probability."""
    listed = list(came)
    scored = {source for source, choice in listed if choice and choice.logprob is not None}
    return sorted({source for source, _ in listed} - scored)


def unscored(sources: Sequence[str], needed: str) -> str:
    """What is told of sources without log-probabilities."""
    return (
        f"no log-probabilities of {', '.join(sources)}, which the plan's score {needed!r} is made of: these samples "
        "weigh what they do without a score"
    )
