"""The samples of one question as they arrive, one request per sample, from one upstream or several at once.

A run requests many choices at once (generate/generate.py); here the first sample must not wait for the last.
"""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import NamedTuple, TypeVar

from steelyard.foundation.errors import SteelyardWarning, UpstreamError
from steelyard.runs.parameters import Abilities, Sampling
from steelyard.sampling.interrupts import cancel_and_wait
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.completion_json import Choice, Reply, body_of
from steelyard.sampling.llm.faults import RefusedError, TryError, refusal
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.llm.probe import probe
from steelyard.sampling.llm.retry import persistently
from steelyard.sampling.telemetry.upstream_call import upstream_call

MOST = 32  # requests under way
TRIES = 3
PATIENCE = 3600.0  # seconds for a sample with all its tries, waiting for a busy server included
Item = TypeVar("Item")


class Draw(NamedTuple):
    """Sample number `sample`, or the reason why it failed; `source` is empty if there is only one upstream."""

    sample: int
    choice: Choice | None
    reason: str | None = None
    source: str = ""
    counts: Mapping[str, int] | None = None  # the tokens that the request was billed for; None: there was no reply


class SampleRequest(NamedTuple):
    """The samples to request from an upstream; `needed` is the score that requires its log-probabilities, if any."""

    name: str  # empty for the only upstream
    address: Address
    sampling: Sampling
    prompt: str
    needed: str | None


async def samples_of(request: SampleRequest) -> AsyncGenerator[Draw]:
    """Yield the samples of one upstream as they arrive; without the log-probabilities that are needed, fail."""
    async with Client(request.address) as client:
        abilities = await probe(client, request.sampling, max_n=1)
        if request.needed and not abilities.logprobs:
            raise UpstreamError(
                f"{request.address.base} returns no log-probabilities, which the plan's score {request.needed!r} "
                "needs: use another server, or leave out --plan"
            )
        async with aclosing(request_samples(client, request.sampling, abilities, request.prompt)) as stream:
            async for draw in stream:
                yield draw._replace(source=request.name)


def together(requests: Sequence[SampleRequest]) -> AsyncGenerator[Draw]:
    """Yield the samples of several upstreams as they arrive; if one stops with an error, its other samples failed."""
    return merged([_every_sample(request) for request in requests])


async def _every_sample(request: SampleRequest) -> AsyncGenerator[Draw]:
    """Yield every sample of an upstream once; those after an error as failed."""
    left = set(range(request.sampling.n))
    try:
        async with aclosing(samples_of(request)) as stream:
            async for draw in stream:
                left.discard(draw.sample)
                yield draw
    except UpstreamError as error:
        for sample in sorted(left):
            yield Draw(sample, None, str(error), request.name)


async def request_samples(
    client: Client, sampling: Sampling, abilities: Abilities, prompt: str
) -> AsyncGenerator[Draw]:
    """Yield the samples of a prompt as they arrive; requests under way when the caller stops are cancelled."""
    pace = Pace(MOST, start=MOST)
    tasks = [
        asyncio.create_task(_request_sample(client, pace, sampling, abilities, prompt, i)) for i in range(sampling.n)
    ]
    try:
        for done in asyncio.as_completed(tasks):
            yield await done
    finally:
        await cancel_and_wait(*tasks)


async def _request_sample(
    client: Client, pace: Pace, sampling: Sampling, abilities: Abilities, prompt: str, number: int
) -> Draw:
    body = body_of(sampling, abilities, prompt, n=1, first=number)

    async def send() -> Reply:
        with upstream_call(client.address, sampling.model) as call:
            reply = await client.sample(body, 1, headers=call.headers)
            if not reply.good:
                raise TryError(reply.wrong[0])
            call.add_reply(reply)
            return reply

    try:
        reply = await persistently(pace, send, tries=TRIES, until=time.monotonic() + PATIENCE)
        return Draw(number, reply.good[0], counts=reply.counts)
    except RefusedError as error:
        if error.everywhere:
            raise refusal(client.address.base, error, sampling.model) from None
        return Draw(number, None, error.reason)
    except TryError as error:
        return Draw(number, None, error.reason)


async def merged(streams: Sequence[AsyncGenerator[Item]]) -> AsyncGenerator[Item]:
    """Yield the items of several streams as they arrive; an error of one is raised when the others have ended."""
    if len(streams) == 1:
        async with aclosing(streams[0]) as only:
            async for item in only:
                yield item
        return
    queue: asyncio.Queue[tuple[Item] | None] = asyncio.Queue()

    async def forward(stream: AsyncGenerator[Item]) -> None:
        try:
            async with aclosing(stream):
                async for item in stream:
                    queue.put_nowait((item,))
        finally:
            queue.put_nowait(None)

    tasks = [asyncio.create_task(forward(stream)) for stream in streams]
    try:
        running = len(tasks)
        while running:
            entry = await queue.get()
            if entry is None:
                running -= 1
            else:
                yield entry[0]
        await asyncio.gather(*tasks)
    finally:
        await cancel_and_wait(*tasks)


def need_samples(samples: list[Draw], requests: Sequence[SampleRequest]) -> None:
    """Fail if there is no sample at all to vote on."""
    if not any(draw.choice for draw in samples):
        sources = {draw.source for draw in samples}
        base = ", ".join(request.address.base for request in requests if request.name in sources)
        raise UpstreamError(f"{base} gave no sample: {samples[0].reason}; see 'steelyard doctor'")


def without_empty(samples: list[Draw], requests: Sequence[SampleRequest]) -> list[Draw]:
    """Leave out upstreams that gave no sample at all, with a warning: such a source does not vote."""
    for request in requests:
        own = [draw for draw in samples if draw.source == request.name]
        if request.name and own and not any(draw.choice for draw in own):
            warnings.warn(
                f"{request.name} gave no sample, so the vote leaves it out: {own[0].reason}",
                SteelyardWarning,
                stacklevel=2,
            )
            samples = [draw for draw in samples if draw.source != request.name]
    return samples


def check_scored(samples: list[Draw], names: Sequence[str], needed: str | None) -> None:
    """Warn about upstreams without log-probabilities for the plan's score; fail if none of several has any."""
    without = without_scores((draw.source, draw.choice) for draw in samples)
    if not names or not needed or not without:
        return
    if len(without) == len({draw.source for draw in samples}):
        raise UpstreamError(
            f"no upstream returns log-probabilities, which the plan's score {needed!r} needs: use other servers, or "
            "leave out --plan"
        )
    warnings.warn(unscored(without, needed), SteelyardWarning, stacklevel=2)


def without_scores(samples: Iterable[tuple[str, Choice | None]]) -> list[str]:
    """The sources without any log-probability."""
    listed = list(samples)
    scored = {source for source, choice in listed if choice and choice.logprob is not None}
    return sorted({source for source, _ in listed} - scored)


def unscored(sources: Sequence[str], needed: str) -> str:
    """The warning about sources without log-probabilities."""
    return (
        f"no log-probabilities from {', '.join(sources)}, which the plan's score {needed!r} needs: these samples "
        "are weighted as samples without a score"
    )
