"""A server's reply, read by bounded_json.py -> its samples, or the reason why there is none. It may hold anything."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from steelyard.foundation.surrogates import replace_surrogates
from steelyard.sampling.llm.error_words import error_of
from steelyard.sampling.llm.faults import TryError

MOST_TOKENS = 2**31
MOST_TEXT = 2**20  # characters of one sample; 128,000 tokens have about half as many
MOST_NAME = 200  # characters of a model's name
LONGEST_TOKEN = 12  # bytes, on average over a text; about 4 are usual
WORDLESS = ("tool_calls", "refusal", "audio", "function_call")  # what a message may hold in the place of text
ECHO = "the reply contains the API key: it is not kept; the server echoes request headers"
NUMBERS = {float, int}


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
    usage: bool  # whether the server counts tokens, and as many as all the choices can have
    counts: dict[str, int] | None = None  # prompt_tokens and completion_tokens of the reply, those that are known


def read_reply(
    content: Any, n: int, betrayed: Callable[[str], bool] = lambda _: False, *, wordless: bool = False
) -> Reply:
    """Read a chat completion that was asked for n choices; choices beyond n are ignored.

    What the model said is kept as it is; a sample that would write down a secret (`betrayed`) is none. A message that
    calls tools, or refuses, may have no text where it may be `wordless`.

    >>> read_reply({"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]}, 1).good
    {0: Choice(text='4', finish='stop', tokens=None, logprob=None)}
    """
    if not isinstance(content, dict):
        raise TryError(f"the reply is {_kind(content)}, not an object")
    model = replace_surrogates(content["model"]) if isinstance(content.get("model"), str) else None
    if model and betrayed(model):
        raise TryError(ECHO)
    choices = content.get("choices")
    if not isinstance(choices, list):
        raise TryError(error_of(content) or f"the reply has no list of choices but {_kind(choices)}")
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
            good[index] = _choice(choice, counted if n == 1 else None, betrayed, wordless)
        except TryError as error:
            wrong[index] = error.reason
    missing = set(range(n)) - good.keys() - wrong.keys()
    wrong |= dict.fromkeys(missing, f"the reply has {n - len(missing)} of {n} choices")
    usage = counted is not None and counted >= sum(map(_fewest_tokens, good.values()))
    name = model[:MOST_NAME] if model else model
    return Reply(name, good, wrong, bool(missing), usage, _counts(content.get("usage"), good, believed=usage))


def _fewest_tokens(choice: Choice) -> float:
    """The fewest tokens that a server can have counted for a choice; llama.cpp counts one choice, whatever n is."""
    if choice.tokens is None:
        return len(choice.text.encode("utf-8", "surrogatepass")) / LONGEST_TOKEN
    return max(0, choice.tokens - 1)  # some servers do not count the end of a choice


def _counts(usage: Any, good: dict[int, Choice], *, believed: bool) -> dict[str, int]:
    """The tokens that a reply is billed for; those of the choices are added up where the server counts only one."""
    tokens = [choice.tokens for choice in good.values() if choice.tokens is not None]
    added = sum(tokens) if tokens and len(tokens) == len(good) else None
    prompt, completion = _tokens(usage, "prompt_tokens"), _tokens(usage) if believed else added
    counts = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {name: count for name, count in counts.items() if count is not None}


def _choice(choice: Any, counted: int | None, betrayed: Callable[[str], bool], wordless: bool) -> Choice:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise TryError(f"the choice has no message but {_kind(message)}")
    finish = choice.get("finish_reason")
    ended = replace_surrogates(finish) if isinstance(finish, str) else "unknown"
    content = message.get("content")
    if content is None and (ended == "length" or (wordless and any(map(message.get, WORDLESS)))):
        content = ""  # it was still thinking when its tokens ran out, or it says something else
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if isinstance(part, dict) and _is_text(part.get("text")))
    if not isinstance(content, str):
        raise TryError(f"the message has no text but {_kind(content)}")
    if len(content) > MOST_TEXT:
        raise TryError(f"the text is longer than {MOST_TEXT:,} characters")
    text = replace_surrogates(content)
    if betrayed(text) or betrayed(ended):
        raise TryError(ECHO)
    tokens, logprob = _logprobs(choice.get("logprobs"))
    return Choice(text, ended[:40], counted if tokens is None else tokens, logprob)


def _logprobs(found: Any) -> tuple[int | None, float | None]:
    """The number of tokens and their mean log-probability; (None, None) when the server gives none."""
    entries = found.get("content") or found.get("token_logprobs") if isinstance(found, dict) else None
    if not isinstance(entries, list) or not entries:
        return None, None
    try:
        values: list[Any] = [entry["logprob"] for entry in entries]
    except (TypeError, KeyError, IndexError):
        values = [entry.get("logprob") if isinstance(entry, dict) else entry for entry in entries]
    try:
        mean = sum(values) / len(values) if set(map(type, values)) <= NUMBERS else math.nan
    except OverflowError:
        mean = math.nan
    return len(entries), min(mean, 0.0) if math.isfinite(mean) and mean < 1e-3 else None


def _tokens(usage: Any, name: str = "completion_tokens") -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < MOST_TOKENS else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _kind(value: Any) -> str:
    names = {"NoneType": "null", "dict": "an object", "list": "a list", "str": "a text", "bool": "true or false"}
    return names.get(type(value).__name__, "a number")
