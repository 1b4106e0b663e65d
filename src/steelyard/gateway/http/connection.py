"""One connection of a client, as aiohttp handles it, but for what is no HTTP: that is refused in OpenAI's shape.

aiohttp would put the header that it could not read into its log and its reply, and there may be a key in it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from steelyard.gateway.http.envelope import SAFE
from steelyard.gateway.limits.head_deadlines import HeadDeadlines
from steelyard.gateway.messages.api_errors import ApiError

LOG = logging.getLogger("steelyard.gateway")
TOO_LONG = "LineTooLong"


class Connection(web.RequestHandler):
    """Answers what cannot be parsed, and what fails outside of every handler; closes on a head that does not end."""

    __slots__ = ("_heads", "_here")

    def __init__(
        self, manager: web.Server, *, loop: asyncio.AbstractEventLoop, heads: HeadDeadlines, **settings: Any
    ) -> None:
        super().__init__(manager, loop=loop, **settings)
        self._heads = heads
        self._here: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Give a client some time for the head of its first request: one that is too slow holds nothing."""
        super().connection_made(transport)
        self._here = transport
        self._heads.add(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Forget a client that has left."""
        self._heads.discard(self)
        self._here = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Give it the same time for every later head, from its first byte on."""
        if self._here is not None and self not in self._heads:
            self._heads.add(self)
        super().data_received(data)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While a request is answered no head is due."""
        here, self._here = self._here, None
        self._heads.discard(self)
        try:
            yield
        finally:
            self._here = here

    def close_slow(self) -> None:
        """Close a connection whose head has not arrived in time."""
        if self._here is not None:
            self._here.close()

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send a reply; what aiohttp refuses before any route is asked, an unknown Expect, in OpenAI's shape too."""
        if isinstance(resp, web.HTTPExpectationFailed):
            resp = ApiError(417, "of Expect only '100-continue' is known here", code="bad_expect").response()
            resp.force_close()  # the body may never come
        return await super().finish_response(request, resp, start_time)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 - it may hold a header
    ) -> web.StreamResponse:
        """A reply in OpenAI's shape, after which the connection is closed."""
        name = type(exc).__name__
        if request.writer.output_size > 0:
            raise ConnectionError("a reply was begun already")
        if status >= 500:
            LOG.critical("a request failed outside of its route: %s", name)
        status = 431 if name == TOO_LONG else status
        told = "the headers are too long" if status == 431 else "the request is no HTTP that can be read"
        response = ApiError(status, told if status < 500 else "a defect of this server", code="bad_http").response()
        response.headers.update(SAFE)
        response.force_close()
        return response

    def log_exception(self, *_: object, **__: object) -> None:
        """Nothing: see above."""
