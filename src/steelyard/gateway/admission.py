"""How many requests are answered at once: a few more wait for a place, and the rest is refused at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from steelyard.gateway.api_errors import busy

LONGEST = 5.0  # seconds that a request waits for a place


class Admission:
    """Places for requests; `close` lets nobody in any more."""

    def __init__(self, places: int, queue: int) -> None:
        self.places, self.queue = places, queue
        self.in_flight = 0
        self.closed = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place; whoever finds none in time is told when to come back."""
        if self.closed:
            raise busy(503, "this server is being stopped: ask another one, or later")
        if self.in_flight >= self.places:
            await self._wait()
        else:
            self.in_flight += 1
        try:
            yield
        finally:
            self._leave()

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return len(self._waiting)

    async def _wait(self) -> None:
        if len(self._waiting) >= self.queue:
            raise busy(429, f"{self.in_flight} requests are under way and {self.queue} wait: come back later")
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            async with asyncio.timeout(LONGEST):
                await place
        except TimeoutError:
            if place.done() and not place.cancelled():
                return  # it came in the same moment
            raise busy(429, f"no place was free for {LONGEST:g} s: come back later") from None
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave()
            raise
        finally:
            with suppress(ValueError):
                self._waiting.remove(place)

    def _leave(self) -> None:
        """Give the place to who waits longest, or back."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self.in_flight -= 1
