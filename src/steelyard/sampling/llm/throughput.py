"""Does it pay to have more requests under way? Not on a server that queues them: it only makes them all wait longer.

The rate of replies is held against what the first few requests had: with L under way instead of the first S, a server
that takes them all at once answers L / S times as many a second. While the rate has not caught up with at least a part
of that, more requests would only stand in the server's queue (llama.cpp and Ollama never say 429) until they time out.
"""

from __future__ import annotations

from collections import deque

PART = 0.4  # a rate that grows with the limit lags one round, in which the limit doubles: half of it is healthy
FEWEST = 8  # replies the rate is taken over


class Throughput:
    """Counts replies; `start` is how many requests were under way at first."""

    def __init__(self, start: int) -> None:
        self.start = start
        self._began: float | None = None
        self._first: float | None = None  # replies per second, for each request under way at the start
        self._times: deque[float] = deque(maxlen=64)
        self._count = 0

    def sent(self, now: float) -> None:
        """The first request is what the clock starts with."""
        if self._began is None:
            self._began = now

    def replied(self, now: float) -> None:
        """Note a reply."""
        self._times.append(now)
        self._count += 1
        if self._count == self.start and self._began is not None:
            self._first = 1.0 / max(now - self._began, 1e-9)

    def pays(self, limit: float) -> bool:
        """Whether the rate has kept up with the limit so far."""
        if self._first is None:
            return False
        taken = min(len(self._times), max(FEWEST, int(limit)))
        if taken < FEWEST:
            return True
        rate = (taken - 1) / max(self._times[-1] - self._times[-taken], 1e-9)
        return rate >= PART * self._first * limit
