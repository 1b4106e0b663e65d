"""Sends a JSON reply piece by piece, as fast as the client reads, while its request still counts as in flight.

aiohttp hands a complete reply to the socket after the handler has returned, so clients that read nothing could make the
server hold any number of replies. Here such clients are disconnected, as in a stream, and all unread replies share one
limit: beyond it the oldest is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from aiohttp import web

from steelyard.gateway.messages.event_stream import Stream

PIECE = 2**16  # bytes; a reply up to this size fits into the buffer of a socket
MAX_UNREAD = 2**28  # bytes of all unread replies

JSON = "application/json"


class UnreadReplies:
    """The replies that clients have not read yet."""

    def __init__(self, limit: int = MAX_UNREAD) -> None:
        self.limit = limit
        self._sizes: dict[Stream, int] = {}  # the oldest first

    @contextmanager
    def track(self, reply: Stream, size: int) -> Iterator[None]:
        """Count a reply while it is being sent, and drop the oldest ones if the total exceeds the limit."""
        while self._sizes and sum(self._sizes.values()) + size > self.limit:
            oldest = next(iter(self._sizes))
            del self._sizes[oldest]
            oldest.disconnect()
        self._sizes[reply] = size
        try:
            yield
        finally:
            self._sizes.pop(reply, None)


UNREAD = web.AppKey("unread", UnreadReplies)


async def json_reply(request: web.Request, body: bytes, headers: Mapping[str, str] | None = None) -> web.StreamResponse:
    """Send a JSON body; aiohttp sends short ones by itself."""
    if len(body) <= PIECE:
        return web.Response(body=body, content_type=JSON, headers=headers)
    response = Stream(headers=headers)
    response.content_type, response.content_length = JSON, len(body)
    with request.app[UNREAD].track(response, len(body)):
        await response.prepare(request)
        view = memoryview(body)
        for at in range(0, len(body), PIECE):
            await response.write(view[at : at + PIECE])
        await response.write_eof()
    return response
