"""How many requests are answered at once: a few more wait for a place, and the rest is refused at once.

Where there are several keys, none of them takes the last share: with k keys, one k-th of the places and of the queue is
kept free of any single key. A place that becomes free goes to the key that holds fewest, there to who waits longest.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from steelyard.gateway.messages.api_errors import busy

LONGEST = 5.0  # seconds that a request waits for a place


class Waiting(NamedTuple):
    """A request that waits: the number of its key, and what is set when it has a place."""

    key: int
    place: asyncio.Future[None]


class Admission:
    """Places for requests; `close` lets nobody in any more."""

    def __init__(self, places: int, queue: int, keys: int = 1) -> None:
        self.places, self.queue = places, queue
        self.closed = False
        self._most, self._most_waiting = (each - each // keys if keys > 1 else each for each in (places, queue))
        self._held: Counter[int] = Counter()  # places by key
        self._waiting: list[Waiting] = []

    @asynccontextmanager
    async def place(self, key: int = 0) -> AsyncIterator[None]:
        """Hold a place; whoever finds none in time is told when to come back."""
        if self.closed:
            raise busy(503, "this server is being stopped: ask another one, or later")
        if self._is_free_for(key):
            self._held[key] += 1
        else:
            await self._wait(key)
        try:
            yield
        finally:
            self._leave(key)

    @property
    def in_flight(self) -> int:
        """How many have a place."""
        return self._held.total()

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return len(self._waiting)

    def _is_free_for(self, key: int) -> bool:
        return self.in_flight < self.places and self._held[key] < self._most

    async def _wait(self, key: int) -> None:
        own = sum(one.key == key for one in self._waiting)
        if len(self._waiting) >= self.queue or own >= self._most_waiting:
            told = f"{self.in_flight} requests are under way and {self.waiting} wait"
            if self._held[key] >= self._most or own >= self._most_waiting:
                told = f"{self._held[key]} requests of this key are under way and {own} wait"
            raise busy(429, f"{told}: come back later")
        waiting = Waiting(key, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        try:
            async with asyncio.timeout(LONGEST):
                await waiting.place
        except TimeoutError:
            if waiting.place.done() and not waiting.place.cancelled():
                return  # it came in the same moment
            raise busy(429, f"no place was free for {LONGEST:g} s: come back later") from None
        except asyncio.CancelledError:
            if waiting.place.done() and not waiting.place.cancelled():
                self._leave(key)
            raise
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)

    def _leave(self, key: int) -> None:
        """Give a place back, and on to who is next."""
        self._held[key] -= 1
        able = [one for one in self._waiting if not one.place.done() and self._is_free_for(one.key)]
        if able:
            chosen = min(able, key=lambda one: self._held[one.key])  # the first of those with the fewest
            self._waiting.remove(chosen)
            self._held[chosen.key] += 1
            chosen.place.set_result(None)
