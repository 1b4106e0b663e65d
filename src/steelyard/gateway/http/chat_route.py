"""POST /v1/chat/completions: a vote for our own model, the upstream's response for its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from aiohttp import web

from steelyard.gateway.http.pass_through import pass_through
from steelyard.gateway.http.vote_stream import stream_vote
from steelyard.gateway.limits.worst_case import budget
from steelyard.gateway.messages.api_errors import ApiError
from steelyard.gateway.messages.chat_request import ChatRequest, read_chat, unknown_model
from steelyard.gateway.messages.json_members import Members, read_members
from steelyard.gateway.messages.json_text import json_bytes
from steelyard.gateway.messages.plain_reply import json_reply
from steelyard.gateway.state import CLIENT, REQUEST_ID, STATE, State
from steelyard.gateway.upstream.source import Source
from steelyard.gateway.vote.vote_settings import VoteSettings, read_vote_settings


async def chat(request: web.Request) -> web.StreamResponse:
    """Answer a chat request."""
    state = request.app[STATE]
    async with state.admission.place(request[CLIENT]):
        members = await read_body(request, state)
        asked = read_chat(members, state.caps)
        if asked.model != state.name:
            source = state.source_of(asked.model)
            if source is None:
                raise unknown_model(asked.model, state.models)
            return await pass_through(request, asked, source)
        settings = vote_settings(state, asked)
        if asked.stream:
            return await stream_vote(request, asked, settings)
        reply = state.replied(request, await state.voting.decide(asked, settings, request[REQUEST_ID]))
        await state.kept(reply)
        return await json_reply(request, json_bytes(reply))


def vote_settings(state: State, asked: ChatRequest, only: Source | None = None) -> VoteSettings:
    """How a request is voted on, within what the operator allows; `only` one upstream gives one sample."""
    settings = read_vote_settings(asked, state.n, state.caps, len(state.sources))
    state.check_price(asked)
    samples = state.voting.samples(settings, only)
    reading = state.voting.reading(asked, settings, state.prices, only)
    found = budget(asked, samples, state.caps, state.prices, settings.max_total_tokens, reading)
    limited = found.each is not None or found.allowance is not None
    return replace(settings, max_tokens=found.each, allowance=found.allowance) if limited else settings


async def read_body(request: web.Request, state: State) -> Members:
    """The JSON object of a request, within the limit of its length."""
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise ApiError(415, "the body is compressed: send it as it is", code="compressed")
    length = request.content_length
    if length is not None and length > state.caps.body:
        raise web.HTTPRequestEntityTooLarge(state.caps.body, length)
    here = request.content.is_eof()  # all of it came with the head
    try:
        async with asyncio.timeout(None if here else state.caps.upload):
            return read_members(await _content(request, state.caps.body))
    except TimeoutError:
        raise ApiError(408, f"the body did not come within {state.caps.upload:g} s", code="slow_request") from None
    except UnicodeDecodeError:
        raise ApiError(400, "the body is not UTF-8", code="invalid_json") from None
    except ValueError as error:
        raise ApiError(400, str(error), code="invalid_json") from None


async def _content(request: web.Request, limit: int) -> bytes:
    """The body of a request; unlike that of `request.read`, it is freed as soon as nobody uses it."""
    chunks: list[bytes] = []
    size = 0
    while chunk := await request.content.readany():
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise web.HTTPRequestEntityTooLarge(limit, size)
    return b"".join(chunks)
