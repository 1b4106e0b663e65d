"""A request of the Responses API -> the same chat request, with all other fields as they were written.

What would need a memory of earlier requests is refused.
"""

from __future__ import annotations

from typing import Any

from steelyard.gateway.messages.api_errors import ApiError, invalid
from steelyard.gateway.messages.json_members import Members, read_members

KEEPS = ("previous_response_id", "conversation", "background", "prompt")  # what only a server with a memory can do
OTHERWISE = frozenset(  # what a chat request spells in another way, or what only concerns a server's memory
    {
        "input",
        "instructions",
        "max_output_tokens",
        "tools",
        "tool_choice",
        "text",
        "reasoning",
        "stream_options",
        *KEEPS,
    }
    | {"store", "include", "truncation", "max_tool_calls", "top_logprobs", "messages", "n"}
)
PARTS = {"input_text": "text", "output_text": "text", "text": "text"}


def as_chat(members: Members) -> Members:
    """The chat request that says the same."""
    values = members.values
    for name in KEEPS:
        if values.get(name):
            raise ApiError(
                400, f"{name} needs a memory that this server does not have: send the whole conversation as input",
                param=name, code="stateless",
            )  # fmt: skip
    chat: dict[str, Any] = {}
    chat["messages"] = [*_instructions(values.get("instructions")), *_messages(values.get("input"))]
    if values.get("tools"):
        chat["tools"] = [_tool(tool, i) for i, tool in enumerate(_listed(values["tools"], "tools"))]
    if values.get("tool_choice") is not None:
        chat["tool_choice"] = _tool_choice(values["tool_choice"])
    wanted, thinking = values.get("text"), values.get("reasoning")
    if isinstance(wanted, dict) and isinstance(wanted.get("format"), dict):
        chat["response_format"] = _format(wanted["format"])
    if isinstance(wanted, dict) and wanted.get("verbosity") is not None:
        chat["verbosity"] = wanted["verbosity"]
    if isinstance(thinking, dict) and thinking.get("effort") is not None:
        chat["reasoning_effort"] = thinking["effort"]
    try:
        return read_members(members.encoded(without=OTHERWISE, **chat))
    except (ValueError, RecursionError):  # it was just readable as it came
        raise ApiError(400, "the body is nested too deeply", code="invalid_json") from None


def _instructions(given: Any) -> list[dict[str, Any]]:
    if given is None:
        return []
    if not isinstance(given, str):
        raise invalid("instructions", "instructions must be a text")
    return [{"role": "system", "content": given}]


def _messages(given: Any) -> list[dict[str, Any]]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [_message(item, i) for i, item in enumerate(_listed(given, "input"))]


def _message(item: Any, i: int) -> dict[str, Any]:
    """A message, the call of a tool, or what came of one."""
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
        raise invalid(f"input[{i}].type", f"input {i} is of a kind that this server cannot pass on")
    content = item.get("content")
    parts = [_part(part, i) for part in content] if isinstance(content, list) else content
    return {"role": item.get("role"), "content": parts}


def _part(part: Any, i: int) -> dict[str, Any]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in PARTS:
        return {"type": "text", "text": part.get("text")}
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        return {"type": "image_url", "image_url": {"url": part["image_url"]}}
    raise invalid(f"input[{i}].content", f"input {i} has a part that this server cannot pass on")


def _tool(tool: Any, i: int) -> dict[str, Any]:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        raise invalid(f"tools[{i}]", "only tools of the type function are passed on")
    return {"type": "function", "function": {name: value for name, value in tool.items() if name != "type"}}


def _tool_choice(given: Any) -> Any:
    if isinstance(given, dict) and given.get("type") == "function" and "name" in given:
        return {"type": "function", "function": {"name": given["name"]}}
    return given


def _format(given: dict[str, Any]) -> dict[str, Any]:
    if given.get("type") != "json_schema":
        return given
    return {"type": "json_schema", "json_schema": {name: value for name, value in given.items() if name != "type"}}


def _listed(given: Any, name: str) -> list[Any]:
    if not isinstance(given, list):
        raise invalid(name, f"{name} must be a list" if name != "input" else "input must be a text or a list")
    return given
