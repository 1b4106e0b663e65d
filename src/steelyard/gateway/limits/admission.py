"""Requests in flight: how many are answered at once, how many wait in the queue, and how they are drained.

With k keys, no single key may take more than all but one k-th of the slots and of the queue. A slot that becomes free
goes to the key with the fewest, and among its requests to the one that has waited longest.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from steelyard.gateway.messages.api_errors import busy

LONGEST = 5.0  # seconds that a request waits for a slot
CLOSING = 5.0  # seconds that cancelled requests have to close their upstream connections


class Waiter(NamedTuple):
    """A waiting request: the number of its key, and the future that is set when it gets a slot."""

    key: int
    slot: asyncio.Future[None]


class Admission:
    """Slots for requests; once `closed` is set, no request is admitted."""

    def __init__(self, slots: int, queue: int, keys: int = 1) -> None:
        self.slots, self.queue = slots, queue
        self.closed = False
        self._most, self._most_waiting = (limit - limit // keys if keys > 1 else limit for limit in (slots, queue))
        self._held: Counter[int] = Counter()  # slots by key
        self._waiting: list[Waiter] = []

    @asynccontextmanager
    async def slot(self, key: int = 0) -> AsyncIterator[None]:
        """Hold a slot; a request that gets none in time is refused with a Retry-After."""
        if self.closed:
            raise busy(503, "this server is shutting down: use another one, or retry later")
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
        return self._held.total()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def _is_free_for(self, key: int) -> bool:
        return self.in_flight < self.slots and self._held[key] < self._most

    async def _wait(self, key: int) -> None:
        own = sum(one.key == key for one in self._waiting)
        if len(self._waiting) >= self.queue or own >= self._most_waiting:
            message = f"{self.in_flight} requests are in flight and {self.waiting} are waiting"
            if self._held[key] >= self._most or own >= self._most_waiting:
                message = f"{self._held[key]} requests with this key are in flight and {own} are waiting"
            raise busy(429, f"{message}: retry later")
        waiting = Waiter(key, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        try:
            async with asyncio.timeout(LONGEST):
                await waiting.slot
        except TimeoutError:
            if waiting.slot.done() and not waiting.slot.cancelled():
                return  # it was set at the same moment
            raise busy(429, f"no slot was free for {LONGEST:g} s: retry later") from None
        except asyncio.CancelledError:
            if waiting.slot.done() and not waiting.slot.cancelled():
                self._leave(key)
            raise
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)

    def _leave(self, key: int) -> None:
        """Release a slot, and give it to the next waiter."""
        self._held[key] -= 1
        eligible = [one for one in self._waiting if not one.slot.done() and self._is_free_for(one.key)]
        if eligible:
            chosen = min(eligible, key=lambda one: self._held[one.key])  # the first of those with the fewest
            self._waiting.remove(chosen)
            self._held[chosen.key] += 1
            chosen.slot.set_result(None)


class InFlight:
    """The tasks of all requests in flight."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def track(self) -> None:
        """Add the request that the current task answers."""
        task = asyncio.current_task()
        if task is not None and task not in self._tasks:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def drain(self, seconds: float) -> None:
        """Wait for the requests to end; cancel those that are left after `seconds`, and wait until they are closed."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        left = set(self._tasks)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=CLOSING)
