"""Messages as the attributes of a span contain them, if the user has asked for content: JSON of limited length."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from steelyard.foundation.surrogates import replace_surrogates

LONGEST = 2**16  # characters of the texts of one attribute
MOST_PARTS = 64  # of one message

Choice: TypeAlias = tuple[Mapping[str, Any], str]  # a message, and the reason why it ended


def input_messages(messages: Sequence[Mapping[str, Any]]) -> str:
    """The messages of a chat request; if they are too long, the last ones.

    >>> input_messages([{"role": "user", "content": "1 + 1?"}])
    '[{"role": "user", "parts": [{"type": "text", "content": "1 + 1?"}]}]'
    """
    room, shown = LONGEST, list[dict[str, Any]]()
    for message in reversed(messages):
        parts = _parts(message, room)
        shown.append({"role": str(message.get("role"))[:40], "parts": parts})
        room -= len(_encoded(parts))
        if room <= 0:
            break
    return _encoded(shown[::-1])


def output_messages(choices: Sequence[Choice]) -> str:
    """Responses, each a message and the reason why it ended.

    >>> output_messages([({"content": "2"}, "stop")])
    '[{"role": "assistant", "parts": [{"type": "text", "content": "2"}], "finish_reason": "stop"}]'
    """
    room = LONGEST // max(1, len(choices))
    shown = [
        {"role": "assistant", "parts": _parts(message, room), "finish_reason": finish[:40]}
        for message, finish in choices
    ]
    return _encoded(shown)


def _parts(message: Mapping[str, Any], room: int) -> list[dict[str, Any]]:
    """The parts of a message: texts and calls of tools; of anything else, such as an image, the type alone."""
    content, calls = message.get("content"), message.get("tool_calls")
    items = content if isinstance(content, list) else [] if content is None else [{"type": "text", "text": content}]
    several = [*items, *(calls if isinstance(calls, list) else [])][:MOST_PARTS]
    return [_part(item, room // len(several)) for item in several if isinstance(item, dict)]


def _part(item: Mapping[str, Any], room: int) -> dict[str, Any]:
    function = item.get("function")
    if isinstance(function, dict):
        arguments = str(function.get("arguments"))[:room]
        return {"type": "tool_call", "name": str(function.get("name"))[:200], "arguments": arguments}
    if isinstance(item.get("text"), str):
        return {"type": "text", "content": item["text"][:room]}
    return {"type": str(item.get("type"))[:40]}


def _encoded(value: list[dict[str, Any]]) -> str:
    return replace_surrogates(json.dumps(value, ensure_ascii=False))
