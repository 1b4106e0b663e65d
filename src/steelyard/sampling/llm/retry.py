"""Retries: how long to wait and how often to try again, for samples, probes and scores.

The pause before retry k is FIRST * 2^k seconds, at most LONGEST, times 0.75 to 1.25 so that not all retry at once. A
busy server (429, 503) uses up no tries: then k counts its busy replies, and Retry-After can only make the wait longer.
A server that names 0 seconds, or a date in the past, is retried no sooner than one that names none.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
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
LONGEST_REQUESTED = 3600.0  # seconds that a server may ask for; longer ones are cut to this
BUSY = 20  # busy replies to one request
Result = TypeVar("Result")


def pause(times: int) -> float:
    """Seconds to wait before a retry after `times` earlier ones."""
    return float(min(LONGEST, FIRST * 2.0 ** min(times, 60)) * random.uniform(0.75, 1.25))  # noqa: S311


async def in_turn(pace: Pace, until: float, put_off: int, send: Callable[[], Awaitable[Result]]) -> Result:
    """Send one request when the pace allows it, and report its outcome to the pace.

    `put_off` is how many busy replies it has had before; if it was not sent by `until`, that is a SpentError.
    """
    async with pace.slot(until) as sent:
        try:
            result = await send()
        except BusyError as error:
            requested = error.wait or 0.0
            pace.pushed_back(sent, max(pause(put_off), min(requested, LONGEST_REQUESTED)), requested)
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
    """Send a request until it works, at most `tries` times and not after `until`; raise the last error.

    Errors of the types `final` are raised at once, as are refusals. `most` bounds all requests, busy replies included.
    """
    failed = put_off = 0
    while True:
        try:
            return await in_turn(pace, until, put_off, send)
        except TryError as error:
            if isinstance(error, (RefusedError, SpentError, PutOffError, *final)):
                raise
            last = bare(error)
        wait = 0.0  # after a busy reply the pace makes all requests wait
        if isinstance(last, BusyError):
            put_off += 1
        else:
            failed += 1
            wait = pause(failed - 1)
        if failed >= tries or put_off > BUSY or failed + put_off >= most or time.monotonic() + wait >= until:
            raise last
        await asyncio.sleep(wait)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After (seconds, or a date) or retry-after-ms; None if there is none that can be read.

    A date is compared with the server's own Date, if it sends one, so that clocks may differ.

    >>> retry_after({"Retry-After": "2"}), retry_after({"retry-after-ms": "250"}), retry_after({})
    (2.0, 0.25, None)
    >>> date = {"Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:49:40 GMT"}
    >>> retry_after(date)
    3.0
    """
    plain = {name.lower(): value for name, value in headers.items()}
    seconds = _number(plain.get("retry-after-ms"), 0.001)
    if seconds is None:
        seconds = _number(plain.get("retry-after"), 1.0)
    if seconds is None:
        then = _date(plain.get("retry-after"))
        if then is None:
            return None
        seconds = then - (_date(plain.get("date")) or time.time())
    return max(seconds, 0.0)


def _number(text: str | None, unit: float) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value * unit if math.isfinite(value) else None


def _date(text: str | None) -> float | None:
    try:
        when = parsedate_to_datetime(text or "")
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
