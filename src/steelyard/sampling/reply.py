"""A server's reply -> its samples, or the reason why there is none. The reply may hold anything."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from steelyard.sampling.faults import TooLargeError, TryError

MOST_BYTES = 32 * 2**20
MOST_OBJECTS = 400_000  # a reply of 32 MB has fewer, unless it is made to fill the memory
MOST_TOKENS = 2**31


class Choice(NamedTuple):
    """One sample: its text, why it ended, how many tokens it has and their mean log-probability, where known."""

    text: str
    finish: str
    tokens: int | None
    logprob: float | None


class Reply(NamedTuple):
    """What came for the n samples asked for: by number the good ones, and the reasons for the others."""

    model: str | None
    good: dict[int, Choice]
    wrong: dict[int, str]
    short: bool  # whether it has fewer choices than were asked for
    usage: bool  # whether the server counts tokens


def read_reply(body: bytes, n: int) -> Reply:
    r"""Read the body of a chat completion that was asked for n choices; choices beyond n are ignored.

    >>> read_reply(b'{"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]}', 1).good
    {0: Choice(text='4', finish='stop', tokens=None, logprob=None)}
    """
    content = _parsed(body)
    choices = content.get("choices")
    if not isinstance(choices, list):
        raise TryError(_error_of(content) or f"the reply has no list of choices but {_kind(choices)}")
    if not choices:
        raise TryError("the reply has no choices")
    counted = _tokens(content.get("usage"))
    good: dict[int, Choice] = {}
    wrong: dict[int, str] = {}
    for position, choice in enumerate(choices[:n]):
        index = choice.get("index", position) if isinstance(choice, dict) else position
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < n or index in good:
            continue
        try:
            good[index] = _choice(choice, counted if n == 1 else None)
        except TryError as error:
            wrong[index] = error.reason
    missing = set(range(n)) - good.keys() - wrong.keys()
    wrong |= dict.fromkeys(missing, f"the reply has {n - len(missing)} of {n} choices")
    model = content.get("model")
    return Reply(whole(model) if isinstance(model, str) else None, good, wrong, bool(missing), counted is not None)


def error_message(body: bytes) -> str:
    """What an error reply says, in whatever shape servers put it."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = body.decode("utf-8", "replace")
    if isinstance(content, dict):
        content = _error_of(content) or ""
    return whole(content)[:300] if isinstance(content, str) else ""


def whole(text: str) -> str:
    """Replace halves of surrogate pairs, which no file can hold."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _parsed(body: bytes) -> dict[str, Any]:
    if not body.strip():
        raise TryError("the reply is empty")
    if body.count(b"{") > MOST_OBJECTS:
        raise TooLargeError(f"the reply has more than {MOST_OBJECTS:,} objects")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError, MemoryError):
        what = "HTML" if body.lstrip()[:1] == b"<" else "not JSON"
        raise TryError(f"the reply is {what}") from None
    if not isinstance(content, dict):
        raise TryError(f"the reply is {_kind(content)}, not an object")
    return content


def _choice(choice: Any, counted: int | None) -> Choice:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise TryError(f"the choice has no message but {_kind(message)}")
    finish = choice.get("finish_reason")
    ended = whole(finish)[:40] if isinstance(finish, str) else "unknown"
    content = message.get("content")
    if content is None and ended == "length":
        content = ""  # it was still thinking when its tokens ran out
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if isinstance(part, dict) and _is_text(part.get("text")))
    if not isinstance(content, str):
        raise TryError(f"the message has no text but {_kind(content)}")
    tokens, logprob = _logprobs(choice.get("logprobs"))
    return Choice(whole(content), ended, counted if tokens is None else tokens, logprob)


def _logprobs(found: Any) -> tuple[int | None, float | None]:
    """The number of tokens and their mean log-probability; (None, None) when the server gives none."""
    entries = found.get("content") or found.get("token_logprobs") if isinstance(found, dict) else None
    if not isinstance(entries, list) or not entries:
        return None, None
    values: list[Any] = [entry.get("logprob") if isinstance(entry, dict) else entry for entry in entries]
    numbers = [value for value in values if type(value) in (float, int)]
    try:
        mean = sum(numbers) / len(numbers) if len(numbers) == len(values) else math.nan
    except OverflowError:
        mean = math.nan
    return len(entries), min(mean, 0.0) if math.isfinite(mean) and mean < 1e-3 else None


def _tokens(usage: Any) -> int | None:
    count = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < MOST_TOKENS else None


def _error_of(content: dict[str, Any]) -> str | None:
    error = content.get("error", content.get("detail", content.get("message")))
    if isinstance(error, dict):
        error = error.get("message")
    if isinstance(error, list):  # FastAPI: a list of what is wrong
        error = "; ".join(str(part.get("msg", part)) if isinstance(part, dict) else str(part) for part in error[:3])
    return f"{error}"[:300] if error else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _kind(value: Any) -> str:
    names = {"NoneType": "null", "dict": "an object", "list": "a list", "str": "a text", "bool": "true or false"}
    return names.get(type(value).__name__, "a number")
