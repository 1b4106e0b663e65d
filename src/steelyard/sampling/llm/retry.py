"""How long to wait before a request is made again, and how often: the one policy for samples, probes and scores.

A try that fails is made again after FIRST * 2^k seconds (times 0.75 to 1.25, so that not all come at once), LONGEST at
most. A busy server (429, 503) costs no tries: then k counts how often it has put us off, and Retry-After can only make
the wait longer. A server that names 0 seconds, or a date in the past, is not asked any sooner than one that names none.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from steelyard.sampling.llm.faults import (
    BusyError,
    GoneError,
    LateError,
    PutOffError,
    RefusedError,
    SpentError,
    TryError,
    bare,
)
from steelyard.sampling.llm.pace import Pace

FIRST = 0.5  # seconds
LONGEST = 60.0
LONGEST_ASKED = 3600.0  # seconds a server is left alone, whatever it asks for
BUSY = 20  # times one request is put off by a busy server

Result = TypeVar("Result")


def pause(times: int) -> float:
    """Seconds before another try, when `times` have failed before this one."""
    return float(min(LONGEST, FIRST * 2.0 ** min(times, 60)) * random.uniform(0.75, 1.25))  # noqa: S311


async def in_turn(pace: Pace, until: float, put_off: int, send: Callable[[], Awaitable[Result]]) -> Result:
    """Send one request in its place among the others, and tell the pace what became of it.

    `put_off` is how often this request was turned away before; after `until` it is not sent, but a SpentError.
    """
    async with pace.slot(until) as sent:
        try:
            result = await send()
        except BusyError as error:
            asked = error.wait or 0.0
            pace.pushed_back(sent, max(pause(put_off), min(asked, LONGEST_ASKED)), asked)
            raise
        except (GoneError, LateError):
            pace.pushed_back(sent)
            raise
        pace.worked(sent)
        return result


async def persistently(
    pace: Pace,
    send: Callable[[], Awaitable[Result]],
    *,
    tries: int,
    until: float = math.inf,
    most: float = math.inf,
    final: tuple[type[TryError], ...] = (),
) -> Result:
    """Send a request until it works, `tries` times at most and not after `until`; raise what went wrong last.

    What is `final` is raised at once, as is a refusal. `most` bounds all requests, also those that were put off.
    """
    failed = put_off = 0
    while True:
        try:
            return await in_turn(pace, until, put_off, send)
        except TryError as error:
            if isinstance(error, (RefusedError, SpentError, PutOffError, *final)):
                raise
            last = bare(error)
        wait = 0.0  # a busy server has closed the gate, where we wait with all the others
        if isinstance(last, BusyError):
            put_off += 1
        else:
            failed += 1
            wait = pause(failed - 1)
        if failed >= tries or put_off > BUSY or failed + put_off >= most or time.monotonic() + wait >= until:
            raise last
        await asyncio.sleep(wait)
