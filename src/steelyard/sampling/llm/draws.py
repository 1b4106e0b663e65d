"""The samples of one question as they come, each by a request of its own: what a person waits for.

A run asks for many choices at once (generate/generate.py); here the first sample should not wait for the last.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from typing import NamedTuple

from steelyard.runs.parameters import Abilities, Sampling
from steelyard.sampling.llm.advice import refusal
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import RefusedError, TryError
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.llm.reply import Choice, Reply
from steelyard.sampling.llm.request import body_of
from steelyard.sampling.llm.retry import persistently

MOST = 32  # requests under way
TRIES = 3
PATIENCE = 3600.0  # seconds for a sample with all its tries, also while the server asks for time


class Draw(NamedTuple):
    """Sample number `sample`: what came, or the reason why nothing did; `source` is empty for the only upstream."""

    sample: int
    choice: Choice | None
    reason: str | None = None
    source: str = ""
    counts: Mapping[str, int] | None = None  # the tokens that the request was billed for, None: no request came back


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

    async def send() -> Reply:
        reply = await client.sample(body, 1)
        if not reply.good:
            raise TryError(reply.wrong[0])
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
