"""POST /v1/chat/completions: a vote for our own model; a request for an upstream's model is passed through.

A reply of the upstream that is not a completion is reported as its error and never relayed as a success. Events that
are not JSON are dropped and counted. A stream that ends before its finish_reason ends with an error and is cut off.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

from aiohttp import web

from steelyard.gateway.http.relay import NO_VOTE, Relay, log_reply, rate_limits
from steelyard.gateway.http.vote_stream import stream_vote
from steelyard.gateway.limits.request_budget import budget
from steelyard.gateway.messages.api_errors import ApiError, from_fault
from steelyard.gateway.messages.chat_request import OURS, ChatRequest, read_chat, unknown_model
from steelyard.gateway.messages.json_body import Members, Parts, read_members
from steelyard.gateway.messages.replies import json_bytes, json_reply
from steelyard.gateway.server_state import CLIENT, REQUEST_ID, STATE, State
from steelyard.gateway.tracing import trace_request
from steelyard.gateway.upstream.billing import BilledTries
from steelyard.gateway.upstream.source import RETRIES, Source
from steelyard.gateway.upstream.upstream_reply import checked_reply, good_choices
from steelyard.gateway.vote.vote_settings import VoteSettings, read_vote_settings
from steelyard.sampling.llm.address import CHAT
from steelyard.sampling.llm.client import Written
from steelyard.sampling.llm.completion_json import ECHO
from steelyard.sampling.llm.faults import TryError
from steelyard.sampling.telemetry.upstream_call import UnrecordedCall, upstream_call


async def chat(request: web.Request) -> web.StreamResponse:
    state = request.app[STATE]
    async with state.admission.slot(request[CLIENT]):
        members = await read_body(request, state)
        chat_request = read_chat(members, state.caps)
        if chat_request.model != state.name:
            source = state.source_of(chat_request.model)
            if source is None:
                raise unknown_model(chat_request.model, state.models)
            trace_request(request, chat_request)
            return await pass_through(request, chat_request, source)
        trace_request(request, chat_request)
        settings = vote_settings(state, chat_request)
        if chat_request.stream:
            return await stream_vote(request, chat_request, settings)
        reply = await state.make_reply(request, await state.voting.decide(chat_request, settings, request[REQUEST_ID]))
        return await json_reply(request, json_bytes(reply))


def vote_settings(state: State, chat_request: ChatRequest, only: Source | None = None) -> VoteSettings:
    """The settings of a vote within the operator's limits; with `only`, that upstream gives one sample."""
    settings = read_vote_settings(chat_request, state.n, state.caps, len(state.sources))
    state.check_price(chat_request)
    samples = state.voting.samples(settings, only)
    score_usage = state.voting.score_usage(chat_request, settings, state.prices, only)
    limits = budget(chat_request, samples, state.caps, state.prices, settings.max_total_tokens, score_usage)
    limited = limits.max_tokens is not None or limits.allowance is not None
    return replace(settings, max_tokens=limits.max_tokens, allowance=limits.allowance) if limited else settings


async def read_body(request: web.Request, state: State) -> Members:
    """Read the JSON object of a request, within the size limit."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise ApiError(415, "the body is compressed: send it uncompressed", code="compressed")
    length = request.content_length
    if length is not None and length > state.caps.body:
        raise web.HTTPRequestEntityTooLarge(state.caps.body, length)
    complete = request.content.is_eof()  # it arrived with the head
    try:
        async with asyncio.timeout(None if complete else state.caps.upload):
            return read_members(await _read_content(request, state.caps.body))
    except TimeoutError:
        raise ApiError(408, f"the body did not arrive within {state.caps.upload:g} s", code="slow_request") from None
    except UnicodeDecodeError:
        raise ApiError(400, "the body is not UTF-8", code="invalid_json") from None
    except ValueError as error:
        raise ApiError(400, str(error), code="invalid_json") from None


async def _read_content(request: web.Request, limit: int) -> bytes:
    """Read the body of a request; unlike that of `request.read`, it is freed as soon as it is unused."""
    chunks: list[bytes] = []
    size = 0
    while chunk := await request.content.readany():
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise web.HTTPRequestEntityTooLarge(limit, size)
    return b"".join(chunks)


async def pass_through(request: web.Request, chat_request: ChatRequest, source: Source) -> web.StreamResponse:
    """Answer with the response of the upstream."""
    state = request.app[STATE]
    state.check_price(chat_request)
    until = time.monotonic() + state.caps.deadline
    limit, allowance = budget(chat_request, {source.name: chat_request.max_samples}, state.caps, state.prices)
    billed, samples = BilledTries(source.name, allowance), range(chat_request.max_samples)
    model: dict[str, Any] = {} if chat_request.model == source.model else {"model": source.model}
    headers, choices = {"x-request-id": request[REQUEST_ID]}, chat_request.returned_choices

    async def relay_stream(body: bytes | Parts) -> web.StreamResponse:
        with billed.attempt(samples), upstream_call(source.client.address, source.model, choices) as call:
            timeout, sent = until - time.monotonic(), {**headers, **call.headers}
            async with source.client.streamed(CHAT, body, timeout=timeout, headers=sent) as upstream:
                return await Relay(request, chat_request, source, call).all(upstream, until)

    async def fetch_reply(body: bytes | Parts) -> tuple[Written, bytes]:
        with billed.attempt(samples), upstream_call(source.client.address, source.model, choices) as call:
            timeout, sent = until - time.monotonic(), {**headers, **call.headers}
            reply = await source.client.written(CHAT, body, timeout=timeout, headers=sent)
            return reply, _relayed(reply, chat_request, source, call)

    async def send(**limit: int) -> web.StreamResponse:
        body = chat_request.members.to_send(without=frozenset({OURS}), **model, **limit)
        if chat_request.stream:  # it is retried until it starts
            return await source.send(lambda: relay_stream(body), tries=1 + RETRIES, until=until)
        reply, relayed = await source.send(lambda: fetch_reply(body), tries=1 + RETRIES, until=until)
        log_reply(request, source, reply.content)
        headers_sent = NO_VOTE | rate_limits(reply.headers, source.secrets)
        del reply  # frees memory while the client reads
        return await json_reply(request, relayed, headers_sent)

    try:
        if limit is None or chat_request.max_tokens is not None:
            return await send()
        return await source.limited(limit, chat_request.size, lambda name, max_tokens: send(**{name: max_tokens}))
    except TryError as error:
        raise from_fault(error) from None


def _relayed(reply: Written, chat_request: ChatRequest, source: Source, call: UnrecordedCall) -> bytes:
    """The reply verbatim, unless clients cannot read it: NaN, another encoding, invalid choices."""
    content = reply.content
    checked = checked_reply(content, chat_request.returned_choices, source, logprobs=True)
    choices = good_choices(content, checked)
    call.add_reply(checked)
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
