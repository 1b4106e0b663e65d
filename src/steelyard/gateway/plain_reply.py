"""A JSON reply, sent while its request still holds its place: piece by piece, as fast as the client reads.

aiohttp hands a whole reply to the socket after the handler has returned: then clients that read nothing hold as many
replies as they like. Here they are disconnected as those of a stream are, and all replies that wait for their clients
share one limit: beyond it the one that has waited longest is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from aiohttp import web

from steelyard.gateway.event_stream import Stream

PIECE = 2**16  # bytes; a reply up to this size fits into the buffer of a socket
MOST_UNREAD = 2**28  # bytes of all replies that clients have not read

JSON = "application/json"


class Unread:
    """The replies that wait for their clients."""

    def __init__(self, limit: int = MOST_UNREAD) -> None:
        self.limit = limit
        self._sizes: dict[Stream, int] = {}  # the oldest first

    @contextmanager
    def added(self, reply: Stream, size: int) -> Iterator[None]:
        """Count a reply while it is sent, and drop older ones where all of them are too much."""
        while self._sizes and sum(self._sizes.values()) + size > self.limit:
            oldest = next(iter(self._sizes))
            del self._sizes[oldest]
            oldest.disconnect()
        self._sizes[reply] = size
        try:
            yield
        finally:
            self._sizes.pop(reply, None)


UNREAD = web.AppKey("unread", Unread)


async def json_reply(request: web.Request, body: bytes, headers: Mapping[str, str] | None = None) -> web.StreamResponse:
    """Send a JSON body; a short one is left to aiohttp."""
    if len(body) <= PIECE:
        return web.Response(body=body, content_type=JSON, headers=headers)
    response = Stream(headers=headers)
    response.content_type, response.content_length = JSON, len(body)
    with request.app[UNREAD].added(response, len(body)):
        await response.prepare(request)
        view = memoryview(body)
        for at in range(0, len(body), PIECE):
            await response.write(view[at : at + PIECE])
        await response.write_eof()
    return response
