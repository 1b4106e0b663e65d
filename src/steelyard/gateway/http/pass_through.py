"""A request for the upstream's own model: sent on as it came, and answered with what comes back.

A reply that is no completion is an error of the upstream, never relayed as a success; events that are no JSON are
dropped and counted; a stream that ends before its finish_reason ends with an error and is broken off.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from aiohttp import web

from steelyard.gateway.http.relay import NO_VOTE, Relay, log_reply, rate_limits
from steelyard.gateway.limits.worst_case import budget
from steelyard.gateway.messages.api_errors import of_fault
from steelyard.gateway.messages.chat_request import OURS, ChatRequest
from steelyard.gateway.messages.json_members import Parts
from steelyard.gateway.messages.json_text import json_bytes
from steelyard.gateway.messages.plain_reply import json_reply
from steelyard.gateway.state import REQUEST_ID, STATE
from steelyard.gateway.upstream.billed_tries import BilledTries
from steelyard.gateway.upstream.source import RETRIES, Source
from steelyard.gateway.upstream.upstream_reply import checked_reply, good_choices
from steelyard.sampling.llm.address import CHAT
from steelyard.sampling.llm.client import Written
from steelyard.sampling.llm.faults import TryError
from steelyard.sampling.llm.reply import ECHO


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
    state.check_price(asked)
    until = time.monotonic() + state.caps.deadline
    limit, allowance = budget(asked, {source.name: asked.drawn_at_most}, state.caps, state.prices)
    tries = Tries(BilledTries(source.name, allowance), range(asked.drawn_at_most), until)
    model: dict[str, Any] = {} if asked.model == source.model else {"model": source.model}
    headers = {"x-request-id": request[REQUEST_ID]}

    async def send(**limit: int) -> web.StreamResponse:
        body = asked.members.to_send(without=frozenset({OURS}), **model, **limit)
        if asked.stream:
            return await _streamed(request, asked, source, body, headers, tries)
        return await _whole(request, asked, source, body, headers, tries)

    try:
        if limit is None or asked.max_tokens is not None:
            return await send()
        return await source.limited(limit, asked.size, lambda name, most: send(**{name: most}))
    except TryError as error:
        raise of_fault(error) from None


async def _whole(
    request: web.Request, asked: ChatRequest, source: Source, body: bytes | Parts, headers: dict[str, str], tries: Tries
) -> web.StreamResponse:
    async def send() -> tuple[Written, bytes]:
        with tries.billed.one(tries.samples):
            reply = await source.client.written(CHAT, body, timeout=tries.left, headers=headers)
            return reply, _relayed(reply, asked, source)

    reply, relayed = await source.send(send, tries=1 + RETRIES, until=tries.until)
    log_reply(request, source, reply.content)
    headers_sent = NO_VOTE | rate_limits(reply.headers, source.secrets)
    del reply  # what was read of it is not needed while the client reads
    return await json_reply(request, relayed, headers_sent)


def _relayed(reply: Written, asked: ChatRequest, source: Source) -> bytes:
    """The reply as it was written, unless clients cannot read that: NaN, another encoding, choices that are none."""
    content = reply.content
    choices = good_choices(content, checked_reply(content, asked.sent_back, source, logprobs=True))
    try:
        text = reply.body.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    odd = text.startswith("\ufeff") or any(sign in text for sign in ("\0", "NaN", "Infinity"))
    same = not odd and choices == content["choices"]
    relayed = reply.body if same else json_bytes(content | {"choices": choices})
    if source.secrets.in_text(relayed.decode()):
        raise TryError(ECHO)
    return relayed


async def _streamed(
    request: web.Request, asked: ChatRequest, source: Source, body: bytes | Parts, headers: dict[str, str], tries: Tries
) -> web.StreamResponse:
    """Open the upstream's stream, again if it fails before it begins, and relay it."""

    async def send() -> web.StreamResponse:
        with tries.billed.one(tries.samples):
            async with source.client.streamed(CHAT, body, timeout=tries.left, headers=headers) as upstream:
                return await Relay(request, asked, source).all(upstream, tries.until)

    return await source.send(send, tries=1 + RETRIES, until=tries.until)
