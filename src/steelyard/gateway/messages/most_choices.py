"""How many choices a request may ask an upstream for: what its probe found, or less where it has changed.

A reply with fewer choices than were asked for, or a refusal that names `n`, gives rise to doubt and decides nothing: it
may be one odd reply, or about the request of one client (vLLM: "n must be 1 when using greedy sampling"), and nobody's
request takes `n` away from the others. So the upstream is asked anew, by the probe's own request, and what that finds
is believed, though not for ever.
"""

from __future__ import annotations

import math
import re
import time

BELIEVED = 600.0  # seconds
_NAMES_N = re.compile(r"(?<![\w.'-])[`'\"]?(n|n_cmpl|num_choices)[`'\"]?(?![\w'-])")


class MostChoices:
    """What is known of one upstream."""

    def __init__(self) -> None:
        self._most, self._until = math.inf, -math.inf

    def of(self, probed: int) -> int:
        """The most that is asked for now."""
        return int(min(probed, self._most)) if time.monotonic() < self._until else probed

    def found(self, most: int) -> None:
        """Note what a probe has found."""
        self._most, self._until = most, time.monotonic() + BELIEVED


def names_n(reason: str) -> bool:
    """Whether an error speaks of the number of choices.

    >>> names_n("HTTP 400: Unsupported parameter: 'n'"), names_n("HTTP 400: logit_bias is not for Aunt N")
    (True, False)
    """
    return _NAMES_N.search(reason) is not None
