"""A reply of an upstream, read before anything of it is used: it must hold a choice, and nowhere the upstream's key."""

from __future__ import annotations

from typing import Any

from steelyard.gateway.messages.samples import choices_by_index, ended
from steelyard.gateway.upstream.source import Source
from steelyard.sampling.llm.faults import TryError
from steelyard.sampling.llm.reply import ECHO, Reply, read_reply


def checked_reply(content: Any, n: int, source: Source, *, logprobs: bool) -> Reply:
    """What came for n samples; without a good one among them it is a TryError, whose reason does not hold the key.

    `logprobs`: whether the client gets the log-probabilities, which may hold the key as well.
    """
    address, secrets = source.client.address, source.secrets
    try:
        reply = read_reply(content, n, secrets.in_text, wordless=True)
    except TryError as error:
        reason = address.masked(error.reason)
    else:
        if reply.good and not (secrets.keys and secrets.in_json(content if logprobs else _words(content))):
            return reply
        reason = ECHO if reply.good else address.masked(next(iter(reply.wrong.values())))
    raise TryError(reason)


def good_choices(content: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
    """The choices of a reply that can be read, as they came; the others and those beyond n are left out."""
    raw = choices_by_index(content)
    return [ended({**raw[j], "index": j}) for j in sorted(reply.good)]


def is_chunk(content: Any, wanted: int) -> bool:
    """Whether an event of a stream is a chunk that clients can read, of the `wanted` choices and no others.

    >>> is_chunk({"choices": [{"index": 0, "delta": {"content": "a"}}]}, 1), is_chunk({"choices": None}, 1)
    (True, False)
    """
    choices = content.get("choices") if isinstance(content, dict) else None
    return isinstance(choices, list) and all(_is_part(choice, wanted) for choice in choices)


def _is_part(choice: Any, wanted: int) -> bool:
    if not isinstance(choice, dict) or not isinstance(choice.get("delta"), dict):
        return False
    spoken = isinstance(choice["delta"].get("content"), str | None)
    index = choice.get("index", 0)
    return spoken and type(index) is int and 0 <= index < wanted and isinstance(choice.get("finish_reason"), str | None)


def _words(content: dict[str, Any]) -> dict[str, Any]:
    """A reply without what is long in it and no words."""
    choices = [
        {name: value for name, value in choice.items() if name != "logprobs"} if isinstance(choice, dict) else choice
        for choice in content["choices"]
    ]
    return {**content, "choices": choices}
