"""POST /v1/responses: the stateless part of the Responses API, answered by the same vote as a chat request.

A request is translated into a chat request, with all other fields as they were written, and the reply back. Whatever
needs a memory of earlier requests is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from aiohttp import web

from steelyard.gateway.caps import Caps
from steelyard.gateway.http.chat_route import read_body, vote_settings
from steelyard.gateway.http.vote_stream import pieces, stream_decision, text_of
from steelyard.gateway.messages.api_errors import ApiError, invalid
from steelyard.gateway.messages.chat_request import (
    MOST_TOKENS,
    OURS,
    ChatRequest,
    read_chat,
    unknown_model,
    whole_number,
)
from steelyard.gateway.messages.json_body import Members, read_members
from steelyard.gateway.messages.replies import event, json_bytes, json_reply
from steelyard.gateway.server_state import CLIENT, REQUEST_ID, STATE
from steelyard.gateway.tracing import trace_request
from steelyard.gateway.vote.decision import Decision

LIMIT = "max_output_tokens"  # per sample
USAGE = {  # as a chat completion and as a response spell it
    "prompt_tokens": "input_tokens", "completion_tokens": "output_tokens",
    "prompt_tokens_details": "input_tokens_details", "completion_tokens_details": "output_tokens_details",
}  # fmt: skip
STATEFUL = ("previous_response_id", "conversation", "background", "prompt")  # need a server with a memory
TRANSLATED = frozenset(  # spelled differently in a chat request, or only for servers with a memory
    {
        "input", "instructions", "max_output_tokens", "tools", "tool_choice", "text", "reasoning", "stream_options",
        "store", "include", "truncation", "max_tool_calls", "top_logprobs", "messages", "n", *STATEFUL,
    }
)  # fmt: skip
TEXTS = ("input_text", "output_text", "text")


async def responses(request: web.Request) -> web.StreamResponse:
    """Answer a request of the Responses API; for an upstream's own model one sample is drawn."""
    state = request.app[STATE]
    async with state.admission.slot(request[CLIENT]):
        chat_request = _read(await read_body(request, state), state.caps)
        work = _decided(request, chat_request)
        if chat_request.stream:
            return await stream_decision(request, work, _encoded_events, _error_event, asyncio.Queue())
        reply = await state.make_reply(request, await work)
        return await json_reply(request, json_bytes(as_response(reply)))


def _read(members: Members, caps: Caps) -> ChatRequest:
    """The equivalent chat request; the upstream decides what its token limit is called."""
    chat_request = read_chat(as_chat(members), caps)
    limit = whole_number(members.values, LIMIT, 1, caps.tokens or MOST_TOKENS)
    return chat_request if limit is None else replace(chat_request, max_tokens=limit)


def _encoded_events(reply: dict[str, Any]) -> Iterator[bytes]:
    return (_event(content, number) for number, content in enumerate(events(as_response(reply))))


def _error_event(error: ApiError) -> bytes:
    return _event({**error.body["error"], **error.body, "type": "error"}, 0)


def _event(content: dict[str, Any], number: int) -> bytes:
    return f"event: {content['type']}\n".encode() + event(content | {"sequence_number": number})


async def _decided(request: web.Request, chat_request: ChatRequest) -> Decision:
    state = request.app[STATE]
    if chat_request.model == state.name:
        trace_request(request, chat_request)
        return await state.voting.decide(chat_request, vote_settings(state, chat_request), request[REQUEST_ID])
    source = state.source_of(chat_request.model)
    if source is None:
        raise unknown_model(chat_request.model, state.models)
    trace_request(request, chat_request)
    settings = replace(vote_settings(state, chat_request, source), n=1, method="majority")
    return await state.voting.decide(chat_request, settings, request[REQUEST_ID], only=source)


def as_chat(members: Members) -> Members:
    """The equivalent chat request."""
    values = members.values
    for name in STATEFUL:
        if values.get(name):
            raise ApiError(
                400, f"{name} is not supported: this server stores no conversations. Send all messages as input.",
                param=name, code="stateless",
            )  # fmt: skip
    chat: dict[str, Any] = {}
    chat["messages"] = [*_instructions(values.get("instructions")), *_messages(values.get("input"))]
    if values.get("tools"):
        chat["tools"] = [_tool(tool, i) for i, tool in enumerate(_need_list(values["tools"], "tools"))]
    if values.get("tool_choice") is not None:
        chat["tool_choice"] = _tool_choice(values["tool_choice"])
    text, reasoning = values.get("text"), values.get("reasoning")
    if isinstance(text, dict) and isinstance(text.get("format"), dict):
        chat["response_format"] = _format(text["format"])
    if isinstance(text, dict) and text.get("verbosity") is not None:
        chat["verbosity"] = text["verbosity"]
    if isinstance(reasoning, dict) and reasoning.get("effort") is not None:
        chat["reasoning_effort"] = reasoning["effort"]
    try:
        return read_members(members.encoded(without=TRANSLATED, **chat))
    except (ValueError, RecursionError):  # the translation is nested more deeply than the request
        raise ApiError(400, "the body is nested too deeply", code="invalid_json") from None


def _instructions(value: Any) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, str):
        raise invalid("instructions", "instructions must be a string")
    return [{"role": "system", "content": value}]


def _messages(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return [_message(item, i) for i, item in enumerate(_need_list(value, "input"))]


def _message(item: Any, i: int) -> dict[str, Any]:
    """A message, a tool call, or the result of one."""
    if not isinstance(item, dict):
        raise invalid(f"input[{i}]", f"input {i} must be an object")
    kind = item.get("type", "message")
    if kind == "function_call":
        function = {"name": item.get("name"), "arguments": item.get("arguments")}
        call = {"id": item.get("call_id"), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if kind == "function_call_output":
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")}
    if kind != "message":
        raise invalid(f"input[{i}].type", f"input {i} has a type that this server does not support")
    content = item.get("content")
    parts = [_content_part(part, i) for part in content] if isinstance(content, list) else content
    return {"role": item.get("role"), "content": parts}


def _content_part(part: Any, i: int) -> dict[str, Any]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in TEXTS:
        return {"type": "text", "text": part.get("text")}
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        return {"type": "image_url", "image_url": {"url": part["image_url"]}}
    raise invalid(f"input[{i}].content", f"input {i} has a content part that this server does not support")


def _tool(tool: Any, i: int) -> dict[str, Any]:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        raise invalid(f"tools[{i}]", "only tools of the type function are supported")
    return {"type": "function", "function": {name: value for name, value in tool.items() if name != "type"}}


def _tool_choice(value: Any) -> Any:
    if isinstance(value, dict) and value.get("type") == "function" and "name" in value:
        return {"type": "function", "function": {"name": value["name"]}}
    return value


def _format(value: dict[str, Any]) -> dict[str, Any]:
    if value.get("type") != "json_schema":
        return value
    return {"type": "json_schema", "json_schema": {name: member for name, member in value.items() if name != "type"}}


def _need_list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise invalid(name, f"{name} must be a list" if name != "input" else "input must be a string or a list")
    return value


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
    if text := text_of(message.get("content")):
        parts.append({"type": "output_text", "text": text, "annotations": []})
    if isinstance(message.get("refusal"), str):
        parts.append({"type": "refusal", "refusal": message["refusal"]})
    if parts or not output:
        status = "incomplete" if cut else "completed"
        message_item = {"type": "message", "id": f"msg_{name}", "status": status, "role": "assistant", "content": parts}
        output.insert(0, message_item)
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
    return {USAGE.get(name, name): value for name, value in usage.items()}


def events(reply: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a reply, as clients of the Responses API read them."""
    yield {"type": "response.created", "response": reply | {"status": "in_progress", "output": [], "usage": None}}
    for i, item in enumerate(reply["output"]):
        empty: dict[str, Any] = {"content": []} if "content" in item else {"arguments": ""}
        started = item | empty | {"status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": i, "item": started}
        position = {"item_id": item["id"], "output_index": i}
        if item["type"] == "function_call":
            yield {"type": "response.function_call_arguments.done", **position, "arguments": item["arguments"]}
        for k, part in enumerate(item.get("content", [])):
            yield from _part(part, position | {"content_index": k})
        yield {"type": "response.output_item.done", "output_index": i, "item": item}
    yield {"type": f"response.{reply['status']}", "response": reply}


def _part(part: dict[str, Any], position: dict[str, Any]) -> Iterator[dict[str, Any]]:
    kind, field = part["type"], "text" if part["type"] == "output_text" else "refusal"
    yield {"type": "response.content_part.added", **position, "part": part | {field: ""}}
    for piece in pieces(part[field]):
        yield {"type": f"response.{kind}.delta", **position, "delta": piece, "logprobs": []}
    yield {"type": f"response.{kind}.done", **position, field: part[field], "logprobs": []}
    yield {"type": "response.content_part.done", **position, "part": part}
