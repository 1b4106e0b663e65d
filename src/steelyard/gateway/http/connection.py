"""One client connection, as aiohttp handles it, except that invalid HTTP is refused with OpenAI's error object.

aiohttp would put the header that it could not parse into its log and its reply, and the header may contain a key.

Connections whose request head has not arrived share one timeout, so one timer serves all, and the first is always the
one that has waited longest. Closing a thousand connections at once would delay every other request by a tenth of a
second, so a few are closed per step. Beyond the limit, every new connection closes a few of those that have waited
longest, but none that has waited for less than the grace period: in a burst of a thousand connections, the heads that
have arrived are read only after all of them were accepted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from aiohttp import web

from steelyard.gateway.http.envelope import SAFE
from steelyard.gateway.messages.api_errors import ApiError

LOG = logging.getLogger("steelyard.gateway")
TOO_LONG = "LineTooLong"
MAX_WAITING = 512  # connections
GRACE = 5.0  # seconds
BATCH = 8  # connections closed per step
STEP = 0.005  # seconds between two steps


class Connection(web.RequestHandler):
    """Answers invalid HTTP and errors outside of the handlers; closes if a request head does not arrive in time."""

    __slots__ = ("_heads", "_idle")

    def __init__(
        self, manager: web.Server, *, loop: asyncio.AbstractEventLoop, heads: HeadDeadlines, **settings: Any
    ) -> None:
        super().__init__(manager, loop=loop, **settings)
        self._heads = heads
        self._idle: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timeout for the head of the first request."""
        super().connection_made(transport)
        self._idle = transport
        self._heads.add(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._heads.discard(self)
        self._idle = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Start the same timeout for every later head, from its first byte on."""
        if self._idle is not None and self not in self._heads:
            self._heads.add(self)
        super().data_received(data)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Stop the timeout while a request is answered."""
        idle, self._idle = self._idle, None
        self._heads.discard(self)
        try:
            yield
        finally:
            self._idle = idle

    def close_slow(self) -> None:
        """Close a connection whose head has not arrived in time."""
        if self._idle is not None:
            self._idle.close()

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send a reply; an unknown Expect, which aiohttp refuses before routing, gets OpenAI's error object."""
        if isinstance(resp, web.HTTPExpectationFailed):
            resp = ApiError(417, "only 'Expect: 100-continue' is supported", code="bad_expect").response()
            resp.force_close()  # the body may never come
        return await super().finish_response(request, resp, start_time)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 - it may contain a header
    ) -> web.StreamResponse:
        """Reply with OpenAI's error object, and close the connection."""
        name = type(exc).__name__
        if request.writer.output_size > 0:
            raise ConnectionError("the reply has already started")
        if status >= 500:
            LOG.critical("a request failed outside of its route: %s", name)
        status = 431 if name == TOO_LONG else status
        reason = "the headers are too long" if status == 431 else "the request is not valid HTTP"
        response = ApiError(status, reason if status < 500 else "internal server error", code="bad_http").response()
        response.headers.update(SAFE)
        response.force_close()
        return response

    def log_exception(self, *_: object, **__: object) -> None:
        """Log nothing: the message may contain a header."""


class WaitingConnection(Protocol):
    """A connection whose head has not arrived."""

    def close_slow(self) -> None:
        """Close it."""


class HeadDeadlines:
    """Closes connections `seconds` after they were added, or after `grace` seconds if there are more than `limit`."""

    def __init__(self, seconds: float, limit: int = MAX_WAITING, grace: float = GRACE) -> None:
        self.seconds, self.limit, self.grace = seconds, limit, min(grace, seconds)
        self._due: dict[WaitingConnection, float] = {}  # the oldest first
        self._timer: asyncio.TimerHandle | None = None

    def __contains__(self, connection: WaitingConnection) -> bool:
        return connection in self._due

    def add(self, connection: WaitingConnection) -> None:
        """Start the timeout of a connection."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._due[connection] = now + self.seconds
        for _ in range(min(BATCH, len(self._due) - self.limit)):
            if next(iter(self._due.values())) - self.seconds + self.grace <= now:
                self._close_oldest()
        if self._timer is None:
            self._timer = loop.call_later(self.seconds, self._step)

    def discard(self, connection: WaitingConnection) -> None:
        """Forget a connection: its head has arrived, or it is closed."""
        self._due.pop(connection, None)

    def _close_oldest(self) -> None:
        oldest = next(iter(self._due))
        del self._due[oldest]
        oldest.close_slow()

    def _step(self) -> None:
        """Close a few connections that have timed out, and schedule the next step."""
        loop = asyncio.get_running_loop()
        self._timer, now = None, loop.time()
        for _ in range(BATCH):
            if self._due and next(iter(self._due.values())) <= now:
                self._close_oldest()
        if self._due:
            wait = next(iter(self._due.values())) - now
            self._timer = loop.call_later(max(STEP, wait), self._step)
