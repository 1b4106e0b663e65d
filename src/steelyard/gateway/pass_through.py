"""A request for the upstream's own model: sent on as it came, and answered with what comes back.

A reply that is no completion is an error of the upstream, never relayed as a success; events that are no JSON are
dropped and counted; a stream that ends before its finish_reason ends with an error and is broken off.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import aiohttp
from aiohttp import web

from steelyard.gateway.api_errors import ApiError, of_fault, public
from steelyard.gateway.billed_tries import BilledTries
from steelyard.gateway.chat_request import OURS, ChatRequest
from steelyard.gateway.event_stream import DONE, EventLines, begun, break_off, event
from steelyard.gateway.finished_choices import FinishedChoices
from steelyard.gateway.json_text import is_strict, json_bytes
from steelyard.gateway.source import RETRIES, Source
from steelyard.gateway.state import REQUEST_ID, STATE
from steelyard.gateway.upstream_reply import checked_reply, good_choices, is_chunk
from steelyard.gateway.vote_stream import chunks
from steelyard.gateway.worst_case import budget
from steelyard.llm.address import CHAT
from steelyard.llm.bounded_json import MOST_BYTES, parsed
from steelyard.llm.client import Written
from steelyard.llm.faults import LateError, TooLargeError, TryError
from steelyard.llm.reply import ECHO, error_message

IDLE = 120.0  # seconds between two parts of a stream
RATE_LIMIT = "x-ratelimit-"
CUT = "the upstream's stream ended before its response did"


class Tries(NamedTuple):
    """The tries of one request, the samples that each of them asks for, and until when."""

    billed: BilledTries
    samples: range
    until: float  # by the monotonic clock

    @property
    def left(self) -> float:
        return self.until - time.monotonic()


async def pass_through(request: web.Request, asked: ChatRequest, source: Source) -> web.StreamResponse:
    """Answer with the upstream's own response."""
    state = request.app[STATE]
    until = time.monotonic() + state.caps.deadline
    limit, allowance = budget(asked, {source.name: asked.drawn_at_most}, state.caps, state.prices)
    tries = Tries(BilledTries(source.name, allowance), range(asked.drawn_at_most), until)
    model: dict[str, Any] = {} if asked.model == source.model else {"model": source.model}
    headers = {"x-request-id": request[REQUEST_ID]}

    async def send(**limit: int) -> web.StreamResponse:
        body = asked.members.text(without=frozenset({OURS}), **model, **limit).encode("utf-8", "surrogatepass")
        if asked.stream:
            return await _streamed(request, asked, source, body, headers, tries)
        return await _whole(asked, source, body, headers, tries)

    try:
        if limit is None or asked.max_tokens is not None:
            return await send()
        return await source.limited(lambda name: send(**{name: limit}))
    except TryError as error:
        raise of_fault(error) from None


async def _whole(
    asked: ChatRequest, source: Source, body: bytes, headers: dict[str, str], tries: Tries
) -> web.Response:
    async def send() -> tuple[Written, bytes]:
        with tries.billed.one(tries.samples):
            reply = await source.client.written(CHAT, body, timeout=tries.left, headers=headers)
            return reply, _relayed(reply, asked, source)

    reply, relayed = await source.send(send, tries=1 + RETRIES, until=tries.until)
    return web.Response(body=relayed, content_type="application/json", headers=_rate_limits(reply.headers))


def _relayed(reply: Written, asked: ChatRequest, source: Source) -> bytes:
    """The reply as it was written, unless clients cannot read that: NaN, another encoding, choices that are none."""
    address, content = source.client.address, reply.content
    choices = good_choices(content, checked_reply(content, asked.sent_back, address))
    try:
        text = reply.body.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    odd = text.startswith("\ufeff") or any(sign in text for sign in ("\0", "NaN", "Infinity"))
    same = not odd and choices == content["choices"]
    relayed = reply.body if same else json_bytes(content | {"choices": choices})
    if address.betrayed(relayed.decode()):
        raise TryError(ECHO)
    return relayed


def _rate_limits(headers: Mapping[str, str]) -> dict[str, str]:
    """What the upstream says of its limits, which is true for the client where one request was one of his."""
    return {name: value for name, value in headers.items() if name.lower().startswith(RATE_LIMIT)}


async def _streamed(
    request: web.Request, asked: ChatRequest, source: Source, body: bytes, headers: dict[str, str], tries: Tries
) -> web.StreamResponse:
    """Open the upstream's stream, again if it fails before it begins, and relay it."""

    async def send() -> web.StreamResponse:
        with tries.billed.one(tries.samples):
            async with source.client.streamed(CHAT, body, timeout=tries.left, headers=headers) as upstream:
                return await Relay(request, asked, source).all(upstream, tries.until)

    return await source.send(send, tries=1 + RETRIES, until=tries.until)


class Relay:
    """One stream on its way to the client."""

    def __init__(self, request: web.Request, asked: ChatRequest, source: Source) -> None:
        self.request, self.asked, self.source = request, asked, source
        self.response: web.StreamResponse | None = None
        self.choices = FinishedChoices(asked.sent_back)
        self.headers: dict[str, str] = {}

    async def all(self, upstream: aiohttp.ClientResponse, until: float) -> web.StreamResponse:
        """Relay a stream to its end. Before its first event a failure is a TryError, and may be tried again."""
        self.headers = _rate_limits(upstream.headers)
        if "text/event-stream" not in upstream.headers.get("Content-Type", "").lower():
            return await self._plain(upstream, until)
        try:
            done = await self._events(upstream, until)
            if not self.choices.may_end(done=done):
                raise TryError(CUT)
        except (TryError, aiohttp.ClientError, OSError, ValueError) as error:
            if self.response is None:
                raise
            reason = error.reason if isinstance(error, TryError) else CUT
            return await self._failed(self.response, reason)
        response = self.response or await begun(self.request, self.headers)
        await response.write(event(DONE))
        await response.write_eof()
        return response

    async def _events(self, upstream: aiohttp.ClientResponse, until: float) -> bool:
        """Relay events as they come; return whether the upstream said that it is done."""
        lines = EventLines()
        while True:
            try:
                async with asyncio.timeout(min(IDLE, until - time.monotonic())):
                    piece = await upstream.content.readany()
            except TimeoutError:
                raise LateError("the upstream's stream stalled") from None
            data = list(lines.feed(piece) if piece else lines.end())
            ready = [self._event(each) for each in data if each.strip() != DONE]
            if out := b"".join(each for each in ready if each):
                self.response = self.response or await begun(self.request, self.headers)
                await self.response.write(out)
            if any(each.strip() == DONE for each in data):
                return True
            if not piece:
                return False

    def _event(self, data: bytes) -> bytes | None:
        """An event to send on, None for one that is dropped; an error of the upstream is raised."""
        try:
            chunk = json.loads(data)
            said = json.dumps(chunk, ensure_ascii=False)
        except (ValueError, RecursionError):
            chunk, said = None, ""
        if isinstance(chunk, dict) and chunk.get("error"):
            raise TryError(self.source.client.address.masked(error_message(data)) or "an error without words")
        if self.source.client.address.betrayed(said):
            raise TryError("the upstream sent its key")
        if not is_chunk(chunk):
            self.request.app[STATE].metrics.repaired.add()
            return None
        choices = chunk["choices"]
        for choice in choices:
            self.choices.note(choice)
        if not choices and isinstance(chunk.get("usage"), dict) and not self.asked.usage_chunk:
            return None
        return event(data if b"\n" not in data and is_strict(data) else chunk)

    async def _plain(self, upstream: aiohttp.ClientResponse, until: float) -> web.StreamResponse:
        """A whole reply of an upstream that does not stream, as a stream."""
        body = bytearray()
        async with asyncio.timeout(until - time.monotonic()):
            async for piece in upstream.content.iter_any():
                body += piece
                if len(body) > MOST_BYTES:
                    raise TooLargeError("the reply is too long")
        content = parsed(body)
        reply = checked_reply(content, self.asked.sent_back, self.source.client.address)
        self.response = await begun(self.request, self.headers)
        frame = {"id": content.get("id", ""), "created": content.get("created", 0), "model": self.asked.model}
        whole = frame | {"choices": good_choices(content, reply), "usage": content.get("usage"), OURS: None}
        for chunk in chunks(whole, usage=self.asked.usage_chunk):
            chunk.pop(OURS, None)
            await self.response.write(event(chunk))
        await self.response.write(event(DONE))
        await self.response.write_eof()
        return self.response

    async def _failed(self, response: web.StreamResponse, reason: str) -> web.StreamResponse:
        await response.write(event(ApiError(502, f"the upstream failed: {public(reason)}", code="upstream_error").body))
        break_off(self.request)
        return response
