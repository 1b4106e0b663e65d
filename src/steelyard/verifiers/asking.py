"""Many requests to one server: as many at once as it bears, each tried a few times, each answer given once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from steelyard.errors import VerifierError
from steelyard.sampling.client import Client
from steelyard.sampling.faults import BusyError, RefusedError, TryError
from steelyard.sampling.pace import Pace
from steelyard.verifiers.scoring import Item, Results, Scores

MOST = 64  # requests under way
TRIES = 6
PAUSE = 0.5  # seconds before the second try; doubles
LONGEST_PAUSE = 30.0

Ask = Callable[[Item], Awaitable[Scores | str]]


async def rolling(items: Iterator[Item], ask: Ask, most: int = MOST) -> Results:
    """Ask about items, up to `most` at once, and yield what came back in the order it came."""
    under_way: dict[asyncio.Task[Scores | str], Item] = {}
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


async def persistently(client: Client, pace: Pace, path: str, body: dict[str, Any], tries: int = TRIES) -> Any:
    """POST and read JSON; what may pass is tried again.

    Raises:
        TryError: it did not pass.
        VerifierError: every other request would be refused as well.
    """
    sent = json.dumps(body).encode()
    for attempt in range(tries):
        try:
            async with pace.slot() as taken:
                try:
                    reply = _json(await client.request("POST", path, sent))
                except BusyError as error:
                    pace.pushed_back(taken, error.wait or 0.0)
                    raise
                pace.worked()
                return reply
        except RefusedError as error:
            if error.everywhere:
                raise VerifierError(f"{client.address.base} refuses to score: {error.reason}; check --at") from None
            raise
        except TryError:
            if attempt == tries - 1:
                raise
        await asyncio.sleep(min(PAUSE * 2**attempt, LONGEST_PAUSE))
    raise AssertionError("the last try returns or raises")


async def get(client: Client, path: str) -> Any:
    """GET JSON; None where there is nothing to be read."""
    try:
        return _json(await client.request("GET", path))
    except TryError:
        return None


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise TryError("the reply is not JSON") from None
