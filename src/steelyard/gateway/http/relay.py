"""Relays the stream of an upstream to the client; a stream that was cut off never looks complete."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

from aiohttp import ClientError, ClientResponse, web

from steelyard.gateway.http.vote_stream import chunks
from steelyard.gateway.messages.access_log import log_error, log_usage
from steelyard.gateway.messages.api_errors import ApiError, public
from steelyard.gateway.messages.chat_request import OURS, ChatRequest
from steelyard.gateway.messages.json_body import MAX_VALUES, has_too_many_values
from steelyard.gateway.messages.replies import DONE, cut_stream, event, is_strict, start_stream, to_client
from steelyard.gateway.messages.secrets_filter import Secrets, StreamedSecrets
from steelyard.gateway.server_state import STATE
from steelyard.gateway.upstream.billing import total_usage
from steelyard.gateway.upstream.source import Source
from steelyard.gateway.upstream.upstream_reply import EventLines, FinishedChoices, checked_reply, good_choices, is_chunk
from steelyard.sampling.llm.bounded_json import MOST_BYTES, parsed
from steelyard.sampling.llm.completion_json import ECHO
from steelyard.sampling.llm.faults import LateError, TooLargeError, TryError, error_message
from steelyard.sampling.llm.prices import currency_of, price_of
from steelyard.sampling.telemetry.upstream_call import UnrecordedCall

IDLE = 120.0  # seconds between two parts of a stream
MAX_HELD_BACK = 2**16  # bytes of events that are held back
RATE_LIMIT = "x-ratelimit-"
NO_VOTE = {"x-steelyard-note": "passed through to the upstream's own model: there was no vote"}
CUT = "the upstream's stream ended before the response was complete"


def rate_limits(headers: Mapping[str, str], secrets: Secrets) -> dict[str, str]:
    """The upstream's rate limit headers, which apply to the client if one request is passed on as one."""
    return secrets.safe_headers(headers, RATE_LIMIT)


def log_reply(request: web.Request, source: Source, reply: dict[str, Any]) -> None:
    """Add the samples, tokens and cost of a reply that is passed through to the log line of its request."""
    prices, usage = request.app[STATE].prices, total_usage([reply.get("usage")])
    price = price_of(prices, source.name)
    log_usage(request, usage, len(reply["choices"]), price.of(usage) if price else None, currency_of(prices))


class Relay:
    """One stream on its way to the client."""

    def __init__(self, request: web.Request, chat_request: ChatRequest, source: Source, call: UnrecordedCall) -> None:
        self.request, self.chat_request, self.source, self.call = request, chat_request, source, call
        self.response: web.StreamResponse | None = None
        self.choices = FinishedChoices(chat_request.returned_choices)
        self.headers: dict[str, str] = {}
        self.secrets = StreamedSecrets(source.secrets)
        self._held_back = bytearray()  # events that are held back

    async def all(self, upstream: ClientResponse, until: float) -> web.StreamResponse:
        """Relay a stream to its end. A failure before its first event is a TryError, and may be retried."""
        self.headers = NO_VOTE | rate_limits(upstream.headers, self.source.secrets)
        if "text/event-stream" not in upstream.headers.get("content-type", "").lower():
            return await self._relay_reply(upstream, until)
        try:
            done = await self._events(upstream, until)
            if not self.choices.may_end(done=done):
                raise TryError(CUT)
        except (TryError, ClientError, OSError, ValueError) as error:
            if self.response is None:
                raise
            self.call.add_error(error)
            reason = error.reason if isinstance(error, TryError) else CUT
            return await self._failed(reason)
        return await self._end()

    async def _events(self, upstream: ClientResponse, until: float) -> bool:
        """Relay events as they arrive; return whether the upstream sent [DONE]."""
        lines = EventLines()
        while True:
            try:
                async with asyncio.timeout(min(IDLE, until - time.monotonic())):
                    piece = await upstream.content.readany()
            except TimeoutError:
                raise LateError("the upstream's stream stalled") from None
            data = list(lines.feed(piece) if piece else lines.end())
            ready = [self._event(item) for item in data if item.strip() != DONE]
            ended = not piece or any(item.strip() == DONE for item in data)
            await self._send(b"".join(item for item in ready if item), ended=ended)
            if ended:
                return bool(piece)

    async def _send(self, events: bytes, *, ended: bool) -> None:
        """Send events on, unless they end with the beginning of a key."""
        self._held_back += events
        if ended:
            self.secrets.end()
        if self.secrets.must_wait:
            if len(self._held_back) > MAX_HELD_BACK:
                raise TryError(ECHO)
            return
        if self._held_back:
            out, self._held_back = bytes(self._held_back), bytearray()
            await self._write(out)

    async def _write(self, data: bytes) -> web.StreamResponse:
        """Write to the client; the first write begins the response."""
        with to_client():
            self.response = self.response or await start_stream(self.request, self.headers)
            await self.response.write(data)
        return self.response

    async def _end(self) -> web.StreamResponse:
        response = await self._write(event(DONE))
        with to_client():
            await response.write_eof()
        return response

    def _event(self, data: bytes) -> bytes | None:
        """An event to send on, None for one that is dropped; an error of the upstream is raised."""
        if has_too_many_values(data):
            raise TooLargeError(f"an event of the stream has more than {MAX_VALUES:,} values")
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            chunk = None
        if isinstance(chunk, dict) and chunk.get("error"):
            raise TryError(self.source.client.address.masked(error_message(data)) or "an error without a message")
        if not is_chunk(chunk, self.chat_request.returned_choices):
            self.request.app[STATE].metrics.repaired.add()
            return None
        self.secrets.check(chunk)
        is_verbatim = b"\n" not in data and is_strict(data)
        if is_verbatim and self.source.secrets.in_text(data.decode()):  # also in a member that parsing drops
            raise TryError(ECHO)
        choices = chunk["choices"]
        if self.response is None:
            self.call.add_identity(chunk)
        if isinstance(chunk.get("usage"), dict):
            self.call.add_usage(chunk["usage"])
            log_reply(self.request, self.source, chunk | {"choices": range(self.chat_request.returned_choices)})
        for choice in choices:
            self.choices.add(choice)
        if not choices and isinstance(chunk.get("usage"), dict) and not self.chat_request.usage_chunk:
            return None
        return event(data if is_verbatim else chunk)

    async def _relay_reply(self, upstream: ClientResponse, until: float) -> web.StreamResponse:
        """Send the complete reply of an upstream that does not stream as a stream."""
        body = bytearray()
        async with asyncio.timeout(until - time.monotonic()):
            while piece := await upstream.content.readany():
                body += piece
                if len(body) > MOST_BYTES:
                    raise TooLargeError("the reply is too long")
        content = parsed(body)
        reply = checked_reply(content, self.chat_request.returned_choices, self.source, logprobs=True)
        self.call.add_reply(reply)
        log_reply(self.request, self.source, content)
        frame = {"id": content.get("id", ""), "created": content.get("created", 0), "model": self.chat_request.model}
        reply_fields = frame | {"choices": good_choices(content, reply), "usage": content.get("usage"), OURS: None}
        for chunk in chunks(reply_fields, usage=self.chat_request.usage_chunk):
            chunk.pop(OURS, None)
            await self._write(event(chunk))
        return await self._end()

    async def _failed(self, reason: str) -> web.StreamResponse:
        cause = "the upstream's stream failed"
        error = ApiError(502, f"the upstream failed: {public(reason)}", code="upstream_error", cause=cause)
        log_error(self.request, error)
        response = await self._write(event(error.body))
        cut_stream(self.request)
        return response
