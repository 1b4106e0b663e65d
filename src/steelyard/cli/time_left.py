"""How long work will still take, by its pace since the first news of it; and when a log is told."""

from __future__ import annotations

import time

FIRST = 2.0  # seconds of work from which its end can be told


class TimeLeft:
    """Estimates the time left from the share of the work that is done."""

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None

    def at(self, share: float) -> float | None:
        """Seconds left; None while nothing can be told. What came before the first news, as loading, is no pace.

        Nor is a first batch, whose news come all at once: some seconds must have passed.
        """
        now = time.monotonic()
        if self._first is None:
            self._first = now, share
        since, began = self._first
        return (now - since) * (1 - share) / (share - began) if share > began and now - since >= FIRST else None


class NowAndThen:
    """Says when a log is told how far work is: once its length is known and is worth a line, then every `quiet` s."""

    def __init__(self, quiet: float) -> None:
        self._quiet, self._began, self._last = quiet, time.monotonic(), time.monotonic()
        self._told = False

    def due(self, left: float | None) -> bool:
        """Whether it is time for a line, with this many seconds left."""
        now = time.monotonic()
        first = not self._told and left is not None and now - self._began > FIRST and left > self._quiet
        if not first and now - self._last <= self._quiet:
            return False
        self._last, self._told = now, self._told or left is not None
        return True


def left_words(seconds: float | None) -> str:
    """The end of a line about work: how long it will still take.

    >>> left_words(75), left_words(None), left_words(0.2)
    (', about 1 min 15 s left', '', '')
    """
    return "" if seconds is None or seconds < 1 else f", about {duration(seconds)} left"


def duration(seconds: float) -> str:
    """A length of time, as people say it.

    >>> duration(42), duration(75), duration(3 * 3600 + 240)
    ('42 s', '1 min 15 s', '3 h 04 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return (
        f"{whole // 60} min {whole % 60:02d} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    )
