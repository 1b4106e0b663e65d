"""The samples of one question as they come, each by a request of its own: what a person waits for.

A run asks for many choices at once (runs/generate.py); here the first sample should not wait for the last.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import NamedTuple

from steelyard.errors import UpstreamError
from steelyard.sampling.abilities import advice
from steelyard.sampling.client import Client
from steelyard.sampling.faults import BusyError, RefusedError, TryError
from steelyard.sampling.pace import Pace
from steelyard.sampling.reply import Choice, read_reply
from steelyard.sampling.request import Abilities, Sampling, body_of

MOST = 32  # requests under way
TRIES = 3
PAUSE = 0.5  # seconds before the second try; doubles


class Draw(NamedTuple):
    """Sample number `sample`: what came, or the reason why nothing did."""

    sample: int
    choice: Choice | None
    reason: str | None = None


async def draws(client: Client, sampling: Sampling, able: Abilities, prompt: str) -> AsyncGenerator[Draw]:
    """Yield the samples of a prompt in the order they come; what is under way when the caller stops is cancelled."""
    pace = Pace(MOST, start=MOST)
    tasks = [asyncio.create_task(_draw(client, pace, sampling, able, prompt, i)) for i in range(sampling.n)]
    try:
        for done in asyncio.as_completed(tasks):
            yield await done
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _draw(client: Client, pace: Pace, sampling: Sampling, able: Abilities, prompt: str, number: int) -> Draw:
    body = body_of(sampling, able, prompt, n=1, first=number)
    reason = ""
    for attempt in range(TRIES):
        try:
            async with pace.slot() as taken:
                try:
                    reply = read_reply(await client.chat(body), 1)
                except BusyError as error:
                    pace.pushed_back(taken, error.wait or 0.0)
                    raise
                pace.worked()
            if reply.good:
                return Draw(number, reply.good[0])
            reason = reply.wrong[0]
        except RefusedError as error:
            if error.everywhere:
                raise UpstreamError(
                    f"{client.address.base} refuses to sample: {error.reason}{advice(error, sampling)}"
                ) from None
            return Draw(number, None, error.reason)
        except TryError as error:
            reason = error.reason
        if attempt < TRIES - 1:
            await asyncio.sleep(PAUSE * 2**attempt)
    return Draw(number, None, reason)
