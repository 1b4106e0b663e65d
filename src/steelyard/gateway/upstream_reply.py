"""A reply of an upstream, read before anything of it is used: it must hold a choice, and nowhere the upstream's key."""

from __future__ import annotations

import json
from typing import Any

from steelyard.gateway.samples import choices_by_index, ended
from steelyard.llm.address import Address
from steelyard.llm.faults import TryError
from steelyard.llm.reply import ECHO, Reply, read_reply


def checked_reply(content: Any, n: int, address: Address) -> Reply:
    """What came for n samples; without a good one among them it is a TryError, whose reason does not hold the key."""
    try:
        reply = read_reply(content, n, address.betrayed, wordless=True)
    except TryError as error:
        reason = address.masked(error.reason)
    else:
        if reply.good and not (address.has_secret and address.betrayed(_words(content))):
            return reply
        reason = ECHO if reply.good else address.masked(next(iter(reply.wrong.values())))
    raise TryError(reason)


def good_choices(content: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
    """The choices of a reply that can be read, as they came; the others and those beyond n are left out."""
    raw = choices_by_index(content)
    return [ended({**raw[j], "index": j}) for j in sorted(reply.good)]


def is_chunk(content: Any) -> bool:
    """Whether an event of a stream is a chunk that clients can read.

    >>> is_chunk({"choices": [{"index": 0, "delta": {"content": "a"}}]}), is_chunk({"choices": None})
    (True, False)
    """
    choices = content.get("choices") if isinstance(content, dict) else None
    return isinstance(choices, list) and all(map(_is_part, choices))


def _is_part(choice: Any) -> bool:
    if not isinstance(choice, dict) or not isinstance(choice.get("delta"), dict):
        return False
    spoken = isinstance(choice["delta"].get("content"), str | None)
    return spoken and type(choice.get("index", 0)) is int and isinstance(choice.get("finish_reason"), str | None)


def _words(content: dict[str, Any]) -> str:
    """The text of a reply without what is long in it and no words."""
    choices = [
        {name: value for name, value in choice.items() if name != "logprobs"} if isinstance(choice, dict) else choice
        for choice in content["choices"]
    ]
    return json.dumps({**content, "choices": choices}, ensure_ascii=False)
