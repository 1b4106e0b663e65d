"""How many bytes of replies may be in the memory at once, over all requests of a client.

A reply up to SMALL bytes is read as it comes. A longer one first takes as much room as it may need, all at once, so
that no two wait for each other with half a reply each; until there is room it stays on the wire. The room is given
back when its samples are written down, or when the reply is refused. A thousand huge replies cost what one costs.
"""

from __future__ import annotations

import asyncio
from collections import deque

SMALL = 2**18  # bytes
TOTAL = 48 * 2**20  # bytes; one reply of the longest kind and some shorter ones


class Room:
    """The bytes that are free; who wants more than there is waits for his turn."""

    def __init__(self, total: int = TOTAL) -> None:
        self.free = total
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def take(self, size: int) -> None:
        """Wait until `size` bytes are free and everybody before us has his, and take them."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.append((size, place))
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.give(size)
            else:
                place.cancel()
                self._admit()
            raise

    def give(self, size: int) -> None:
        """Give bytes back."""
        self.free += size
        self._admit()

    def _admit(self) -> None:
        while self._waiting and (self._waiting[0][1].done() or self._waiting[0][0] <= self.free):
            size, place = self._waiting.popleft()
            if not place.done():
                self.free -= size
                place.set_result(None)


class Hold:
    """What one reply takes of the room, given back at the end of `with`."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.size = 0

    async def take(self, size: int) -> None:
        """Take room, once."""
        await self._room.take(size)
        self.size = size

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, *_: object) -> None:
        if self.size:
            self._room.give(self.size)
            self.size = 0
