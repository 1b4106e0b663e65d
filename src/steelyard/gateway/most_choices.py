"""How many choices a request may ask an upstream for: what its probe found, and for a while less where replies say so.

A reply with fewer choices than were asked for says so by itself. A refusal may be the fault of one client's request, so
that two requests in a row have to be refused in words that name `n`. Neither is believed for ever.
"""

from __future__ import annotations

import math
import re
import time

BELIEVED = 600.0  # seconds
LEAST_REFUSALS = 2  # requests in a row
_NAMES_N = re.compile(r"(?<![\w.'-])[`'\"]?(n|n_cmpl|num_choices)[`'\"]?(?![\w'-])")


class MostChoices:
    """What is known of one upstream."""

    def __init__(self) -> None:
        self._most, self._until = math.inf, -math.inf
        self._refused: set[str] = set()  # ids of requests

    def of(self, probed: int) -> int:
        """The most that is asked for now."""
        return int(min(probed, self._most)) if time.monotonic() < self._until else probed

    def gave(self, came: int, wanted: int) -> None:
        """Note how many choices came of those that one request wanted."""
        self._refused.clear()
        if came < wanted:
            self._believe(max(1, came))

    def refused(self, reason: str, request: str) -> None:
        """Note that a request was refused which was good for a single choice."""
        if not names_n(reason):
            return
        self._refused.add(request)
        if len(self._refused) >= LEAST_REFUSALS:
            self._believe(1)

    def _believe(self, most: int) -> None:
        self._refused.clear()
        self._most, self._until = self.of(most), time.monotonic() + BELIEVED


def names_n(reason: str) -> bool:
    """Whether an error speaks of the number of choices.

    >>> names_n("HTTP 400: Unsupported parameter: 'n'"), names_n("HTTP 400: logit_bias is not for Aunt N")
    (True, False)
    """
    return _NAMES_N.search(reason) is not None
