"""The samples of one question from one upstream, or from several at once: one that gives nothing does not vote."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import NamedTuple

from steelyard.errors import SteelyardWarning, UpstreamError
from steelyard.llm.address import Address
from steelyard.llm.client import Client
from steelyard.llm.draws import Draw, draws
from steelyard.llm.probe import probe
from steelyard.runs.parameters import Sampling


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


async def together(asking: Sequence[Asking]) -> AsyncGenerator[Draw]:
    """Yield the samples of several upstreams as they come; those of one that cannot go on have failed."""
    came: asyncio.Queue[Draw | None] = asyncio.Queue()

    async def pass_on(asked: Asking) -> None:
        left = set(range(asked.sampling.n))
        try:
            async with aclosing(samples_of(asked)) as coming:
                async for draw in coming:
                    left.discard(draw.sample)
                    came.put_nowait(draw)
        except UpstreamError as error:
            for sample in sorted(left):
                came.put_nowait(Draw(sample, None, str(error), asked.name))
        finally:
            came.put_nowait(None)

    tasks = [asyncio.create_task(pass_on(asked)) for asked in asking]
    try:
        at_work = len(tasks)
        while at_work:
            draw = await came.get()
            if draw is None:
                at_work -= 1
            else:
                yield draw
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


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
    scored = {draw.source for draw in came if draw.choice and draw.choice.logprob is not None}
    without = sorted({draw.source for draw in came} - scored)
    if not names or not needed or not without:
        return
    if not scored:
        raise UpstreamError(
            f"no upstream gives log-probabilities, which the plan's score {needed!r} is made of: ask other servers, or "
            "without --plan"
        )
    warnings.warn(
        f"no log-probabilities of {', '.join(without)}, which the plan's score {needed!r} is made of: these samples "
        "weigh what they do without a score",
        SteelyardWarning,
        stacklevel=2,
    )
