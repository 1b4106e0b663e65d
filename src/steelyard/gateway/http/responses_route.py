"""POST /v1/responses: the Responses API without a memory, answered by the same vote as a chat request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from aiohttp import web

from steelyard.gateway.caps import Caps
from steelyard.gateway.http.chat_route import read_body, vote_settings
from steelyard.gateway.http.vote_stream import pieces, spoken, while_waiting
from steelyard.gateway.messages.access_log import log_error
from steelyard.gateway.messages.api_errors import ApiError
from steelyard.gateway.messages.chat_request import (
    MOST_TOKENS,
    OURS,
    ChatRequest,
    read_chat,
    unknown_model,
    whole_number,
)
from steelyard.gateway.messages.event_stream import begun, break_off, event
from steelyard.gateway.messages.json_members import Members
from steelyard.gateway.messages.json_text import json_bytes
from steelyard.gateway.messages.plain_reply import json_reply
from steelyard.gateway.messages.responses_request import as_chat
from steelyard.gateway.state import CLIENT, REQUEST_ID, STATE
from steelyard.gateway.vote.decision import Decision

LIMIT = "max_output_tokens"  # per sample
USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "total_tokens": "total_tokens"}
DETAILS = {"prompt_tokens_details": "input_tokens_details", "completion_tokens_details": "output_tokens_details"}


async def responses(request: web.Request) -> web.StreamResponse:
    """Answer a request of the Responses API; of the upstream's own model one sample is drawn."""
    state = request.app[STATE]
    async with state.admission.place(request[CLIENT]):
        asked = _read(await read_body(request, state), state.caps)
        if asked.stream:
            return await _streamed(request, asked)
        reply = state.replied(request, await _decided(request, asked))
        await state.kept(reply)
        return await json_reply(request, json_bytes(as_response(reply)))


def _read(members: Members, caps: Caps) -> ChatRequest:
    """The chat request that says the same; what its limit on tokens is called every upstream knows for itself."""
    asked = read_chat(as_chat(members), caps)
    limit = whole_number(members.values, LIMIT, 1, caps.tokens or MOST_TOKENS)
    return asked if limit is None else replace(asked, max_tokens=limit)


async def _streamed(request: web.Request, asked: ChatRequest) -> web.StreamResponse:
    """Heartbeats until it is decided, then the events of the whole reply; what fails after a heartbeat is one too."""
    deciding = asyncio.create_task(_decided(request, asked))
    try:
        response = await while_waiting(request, deciding, asyncio.Queue())
        try:
            decision = await deciding
        except ApiError as error:
            if response is None:
                raise
            log_error(request, error)
            await response.write(_event({**error.body["error"], **error.body, "type": "error"}, 0))
            break_off(request)
            return response
        response = response or await begun(request)
        reply = request.app[STATE].replied(request, decision)
        await request.app[STATE].kept(reply)
        for number, told in enumerate(events(as_response(reply))):
            await response.write(_event(told, number))
        await response.write_eof()
        return response
    finally:
        deciding.cancel()
        await asyncio.gather(deciding, return_exceptions=True)


def _event(told: dict[str, Any], number: int) -> bytes:
    return f"event: {told['type']}\n".encode() + event(told | {"sequence_number": number})


async def _decided(request: web.Request, asked: ChatRequest) -> Decision:
    state = request.app[STATE]
    if asked.model == state.name:
        return await state.voting.decide(asked, vote_settings(state, asked), request[REQUEST_ID])
    source = state.source_of(asked.model)
    if source is None:
        raise unknown_model(asked.model, state.models)
    settings = replace(vote_settings(state, asked, source), n=1, method="majority")
    return await state.voting.decide(asked, settings, request[REQUEST_ID], only=source)


def as_response(reply: dict[str, Any]) -> dict[str, Any]:
    """The reply to a chat request as the Responses API spells it."""
    message, finish = reply["choices"][0]["message"], reply["choices"][0]["finish_reason"]
    name = reply["id"].removeprefix("chatcmpl-")
    cut, calls = finish == "length", message.get("tool_calls")
    output: list[dict[str, Any]] = [
        {
            "type": "function_call", "id": f"fc_{name}_{i}", "call_id": call.get("id"), "status": "completed",
            "name": call["function"].get("name"), "arguments": call["function"].get("arguments"),
        }
        for i, call in enumerate(calls if isinstance(calls, list) else [])
        if isinstance(call, dict) and isinstance(call.get("function"), dict)
    ]  # fmt: skip
    parts: list[dict[str, Any]] = []
    if text := spoken(message.get("content")):
        parts.append({"type": "output_text", "text": text, "annotations": []})
    if isinstance(message.get("refusal"), str):
        parts.append({"type": "refusal", "refusal": message["refusal"]})
    if parts or not output:
        status = "incomplete" if cut else "completed"
        said = {"type": "message", "id": f"msg_{name}", "status": status, "role": "assistant", "content": parts}
        output.insert(0, said)
    return {
        "id": f"resp_{name}", "object": "response", "created_at": reply["created"], "model": reply["model"],
        "status": "incomplete" if cut else "completed", "error": None, "instructions": None, "metadata": {},
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None, "output": output,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "temperature": None, "top_p": None,
        "usage": _usage(reply["usage"]), OURS: reply[OURS],
    }  # fmt: skip


def _usage(usage: dict[str, Any] | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    return {(USAGE | DETAILS).get(name, name): value for name, value in usage.items()}


def events(reply: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a whole reply, as clients of the Responses API read them."""
    yield {"type": "response.created", "response": reply | {"status": "in_progress", "output": [], "usage": None}}
    for i, item in enumerate(reply["output"]):
        empty: dict[str, Any] = {"content": []} if "content" in item else {"arguments": ""}
        begun_ = item | empty | {"status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": i, "item": begun_}
        where = {"item_id": item["id"], "output_index": i}
        if item["type"] == "function_call":
            yield {"type": "response.function_call_arguments.done", **where, "arguments": item["arguments"]}
        for k, part in enumerate(item.get("content", [])):
            yield from _part(part, where | {"content_index": k})
        yield {"type": "response.output_item.done", "output_index": i, "item": item}
    yield {"type": f"response.{reply['status']}", "response": reply}


def _part(part: dict[str, Any], where: dict[str, Any]) -> Iterator[dict[str, Any]]:
    kind, field = part["type"], "text" if part["type"] == "output_text" else "refusal"
    yield {"type": "response.content_part.added", **where, "part": part | {field: ""}}
    for piece in pieces(part[field]):
        yield {"type": f"response.{kind}.delta", **where, "delta": piece, "logprobs": []}
    yield {"type": f"response.{kind}.done", **where, field: part[field], "logprobs": []}
    yield {"type": "response.content_part.done", **where, "part": part}
