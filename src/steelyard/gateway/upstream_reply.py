"""A reply of an upstream, read before anything of it is used: it must hold a choice, and nowhere the upstream's key."""

from __future__ import annotations

import json
from typing import Any

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
        if reply.good and not address.betrayed(json.dumps(_without_logprobs(content), ensure_ascii=False)):
            return reply
        reason = ECHO if reply.good else address.masked(next(iter(reply.wrong.values())))
    raise TryError(reason)


def _without_logprobs(content: dict[str, Any]) -> dict[str, Any]:
    """A reply without what is long in it and no words."""
    choices = [
        {name: value for name, value in choice.items() if name != "logprobs"} if isinstance(choice, dict) else choice
        for choice in content["choices"]
    ]
    return {**content, "choices": choices}
