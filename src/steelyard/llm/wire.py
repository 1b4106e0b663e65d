"""One connection to a server: what is sent at once, and what comes, kept until it is taken."""

from __future__ import annotations

import asyncio
from typing import cast

AHEAD = 2**17  # bytes that may come before anybody takes them


class WireError(Exception):
    """The connection broke, or what came over it is no HTTP; it says which on one line."""


class Wire(asyncio.Protocol):
    """A connection as asyncio makes it, for one request at a time."""

    def __init__(self) -> None:
        self.came = bytearray()
        self.ended = False  # nothing more will come
        self.idle_since = 0.0
        self._error: Exception | None = None
        self._transport: asyncio.Transport | None = None
        self._more: asyncio.Future[None] | None = None  # who waits is told of more
        self._held = False  # whether the other side has to wait

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what is written to."""
        self._transport = cast(asyncio.Transport, transport)  # other loops have transports of their own

    def data_received(self, data: bytes) -> None:
        """Keep what comes; beyond AHEAD bytes the other side waits."""
        self.came += data
        if len(self.came) > AHEAD and self._transport is not None and not self._held:
            self._held = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Let the connection be closed: a server that says no more takes no other request."""
        self.ended = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        """Tell whoever waits."""
        self.ended, self._error = True, error
        self._wake()

    def send(self, data: bytes) -> None:
        """Send all of it, in its time."""
        if self._transport is not None:
            self._transport.write(data)

    async def more(self) -> bool:
        """Wait until more has come; whether it has, or that was the end."""
        before = len(self.came)
        while not self.ended and len(self.came) == before:
            self._more = asyncio.get_running_loop().create_future()
            await self._more
        if len(self.came) > before:
            return True
        if self._error is not None:
            raise WireError((getattr(self._error, "strerror", None) or type(self._error).__name__).lower())
        return False

    def taken(self, most: int) -> bytes:
        """Take what is there, `most` bytes of it."""
        found = bytes(memoryview(self.came)[:most])
        del self.came[:most]
        if self._held and len(self.came) <= AHEAD and self._transport is not None:
            self._held = False
            self._transport.resume_reading()
        return found

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent: all was said and taken on both sides, and it is open."""
        through = self._transport is not None and not self._transport.get_write_buffer_size()
        return through and not (self.ended or self.came)

    def close(self) -> None:
        """Let go of it at once, also of what was not sent."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None  # the loop closes it later, and until then nobody may take it for open

    def _wake(self) -> None:
        if self._more is not None and not self._more.done():
            self._more.set_result(None)
