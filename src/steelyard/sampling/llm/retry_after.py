"""How long a server wants to be left alone, by its headers."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After (seconds, or a date) or retry-after-ms; None when there is none that can be read.

    A date is held against the server's own Date where it sends one, so that clocks may differ.

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
