"""Sends many requests to one server, as many at once as it sustains, with retries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

from steelyard.foundation.errors import VerifierError
from steelyard.sampling.llm.address import CHAT
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import RefusedError, TryError, advice
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.llm.retry import persistently
from steelyard.sampling.telemetry.upstream_call import upstream_call

MOST = 64  # requests under way
TRIES = 6
PATIENCE = 3600.0  # seconds for a score with all its tries, waiting for a busy server included
OPERATIONS = {CHAT: "chat", "/embeddings": "embeddings"}  # as OpenTelemetry calls them, by path

Request = TypeVar("Request")
Result = TypeVar("Result")


async def rolling(
    items: Iterator[Request], ask: Callable[[Request], Awaitable[Result]], most: int = MOST
) -> AsyncGenerator[tuple[Request, Result], None]:
    """Ask about items, up to `most` at once, and yield the results as they arrive."""
    first = list(islice(items, 2))
    if len(first) == 1:  # no concurrency needed
        yield first[0], await ask(first[0])
        return
    items = chain(first, items)
    under_way: dict[asyncio.Future[Result], Request] = {}
    try:
        while True:
            for item in items:
                under_way[asyncio.ensure_future(ask(item))] = item
                if len(under_way) >= most:
                    break
            if not under_way:
                return
            done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield under_way.pop(task), task.result()
    finally:
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def post(
    client: Client, pace: Pace, path: str, body: dict[str, Any], tries: int = TRIES, timeout: float | None = None
) -> Any:
    """POST and read JSON; temporary errors are retried. `timeout` is that of a try, None: the client's.

    Raises:
        TryError: all tries failed.
        VerifierError: every other request would be refused as well.
    """

    async def send() -> Any:
        operation = OPERATIONS.get(path.removeprefix("/v1"), "score")
        with upstream_call(client.address, body.get("model"), operation=operation) as call:
            reply = await client.request("POST", path, body, timeout=timeout, headers=call.headers)
            call.add_usage(reply.get("usage") if isinstance(reply, dict) else None)
            return reply

    try:
        return await persistently(pace, send, tries=tries, until=time.monotonic() + PATIENCE)
    except RefusedError as error:
        if error.everywhere:
            hint = advice(error) or "check --upstream"
            raise VerifierError(f"{client.address.base} refuses to score: {error.reason}; {hint}") from None
        raise


async def get(client: Client, path: str) -> Any:
    """GET JSON; None if there is none."""
    try:
        return await client.request("GET", path)
    except TryError:
        return None
