"""The JSON of a chat completion: the body of a request, and the samples in a reply, which may contain anything."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from steelyard.foundation.surrogates import replace_surrogates
from steelyard.foundation.token_statistics import confidence_and_entropy, encode, top_logprobs
from steelyard.runs.parameters import Abilities, Sampling
from steelyard.sampling.llm.bounded_json import MOST_BYTES
from steelyard.sampling.llm.faults import TryError, error_of

MOST_TOKENS = 2**31
MOST_TEXT = 2**20  # characters of one sample; 128,000 tokens have about half as many
MOST_NAME = 200  # characters of a model's name
LONGEST_TOKEN = 12  # bytes, on average over a text; about 4 are usual
WORDLESS = ("tool_calls", "refusal", "audio", "function_call")  # fields that a message may have instead of text
ECHO = "the reply contains the API key: it is not kept; the server echoes request headers"
NUMBERS = {float, int}
ALTERNATIVE_BYTES = 150  # of one of the most likely tokens in a reply, rounded up
TOKEN_BYTES = 400  # of one token with its log-probability in a reply, rounded up


def samples_per_request(abilities: Abilities, sampling: Sampling) -> int:
    """How many samples one request may ask for so that its reply stays within MOST_BYTES.

    >>> samples_per_request(Abilities(most=64, logprobs=True), Sampling("m", max_tokens=2048))
    40
    """
    token_bytes = TOKEN_BYTES + ALTERNATIVE_BYTES * sampling.top_logprobs
    size = sampling.max_tokens * (token_bytes if abilities.logprobs else TOKEN_BYTES // 16)
    return max(1, min(abilities.most, MOST_BYTES // size))


def body_of(
    sampling: Sampling, abilities: Abilities, prompt: str, *, n: int, first: int, max_tokens: int | None = None
) -> dict[str, Any]:
    """The body of a request for samples first .. first + n - 1 of a prompt.

    One request has one seed, that of its first sample. vLLM and llama.cpp give choice j the seed + j, so there every
    sample has its own; other servers derive the seeds of further choices in their own way.
    """
    body: dict[str, Any] = {
        "model": sampling.model,
        "messages": [{"role": "user", "content": prompt}],
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        abilities.limit_name: sampling.max_tokens if max_tokens is None else max_tokens,
    }
    if n > 1:
        body["n"] = n
    if abilities.seed:
        body["seed"] = sampling.seed + first
    if abilities.logprobs:
        body |= {
            "logprobs": True,
            "top_logprobs": max(1, sampling.top_logprobs),
        }  # without top_logprobs llama.cpp sends twenty per token
    return body


class Choice(NamedTuple):
    """One sample: its text, why it ended, how many tokens it has and their mean log-probability, where known."""

    text: str
    finish: str
    tokens: int | None
    logprob: float | None
    token_statistics: str | None = None  # foundation/token_statistics.py


class Reply(NamedTuple):
    """The n samples of a request: the good ones by number, and the reasons why others are missing."""

    model: str | None
    good: dict[int, Choice]
    wrong: dict[int, str]
    short: bool  # whether it has fewer choices than were requested
    usage: bool  # whether the server counts tokens, and as many as all the choices can have
    counts: dict[str, int] | None = None  # prompt_tokens and completion_tokens of the reply, if known
    response_id: str | None = None


def read_reply(
    content: Any, n: int, betrayed: Callable[[str], bool] = lambda _: False, *, wordless: bool = False, top: int = 0
) -> Reply:
    """Read a chat completion of n choices; choices beyond n are ignored.

    The text of the model is not changed; a sample that contains a secret (`betrayed`) is refused. With `wordless` a
    message that calls tools, or refuses, needs no text. `top` is the number of most likely tokens that were requested,
    for statistics.

    >>> read_reply({"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}]}, 1).good
    {0: Choice(text='4', finish='stop', tokens=None, logprob=None, token_statistics=None)}
    """
    if not isinstance(content, dict):
        raise TryError(f"the reply is {_kind(content)}, not an object")
    model = replace_surrogates(content["model"]) if isinstance(content.get("model"), str) else None
    if model and betrayed(model):
        raise TryError(ECHO)
    choices = content.get("choices")
    if not isinstance(choices, list):
        raise TryError(error_of(content) or f"the reply's choices must be a list, not {_kind(choices)}")
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
            if top:
                good[index] = good[index]._replace(token_statistics=_token_statistics(choice.get("logprobs"), top))
        except TryError as error:
            wrong[index] = error.reason
    missing = set(range(n)) - good.keys() - wrong.keys()
    wrong |= dict.fromkeys(missing, f"the reply has {n - len(missing)} of {n} choices")
    usage = counted is not None and counted >= sum(map(_fewest_tokens, good.values()))
    name, own_id = model[:MOST_NAME] if model else model, content.get("id")
    response_id = own_id if isinstance(own_id, str) and not betrayed(own_id) else None
    counts = _counts(content.get("usage"), good, believed=usage)
    return Reply(name, good, wrong, bool(missing), usage, counts, response_id)


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
        raise TryError(f"the choice's message must be an object, not {_kind(message)}")
    finish = choice.get("finish_reason")
    ended = replace_surrogates(finish) if isinstance(finish, str) else "unknown"
    content = message.get("content")
    if content is None and (ended == "length" or (wordless and any(map(message.get, WORDLESS)))):
        content = ""  # it was still thinking when its tokens ran out, or it has another field
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        content = "".join(text for text in texts if isinstance(text, str))
    if not isinstance(content, str):
        raise TryError(f"the message's content must be a string, not {_kind(content)}")
    if len(content) > MOST_TEXT:
        raise TryError(f"the text is longer than {MOST_TEXT:,} characters")
    text = replace_surrogates(content)
    if betrayed(text) or betrayed(ended):
        raise TryError(ECHO)
    tokens, logprob = _logprobs(choice.get("logprobs"))
    return Choice(text, ended[:40], counted if tokens is None else tokens, logprob)


def _logprobs(logprobs: Any) -> tuple[int | None, float | None]:
    """The number of tokens and their mean log-probability; (None, None) if the reply has none."""
    entries = logprobs.get("content") or logprobs.get("token_logprobs") if isinstance(logprobs, dict) else None
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


def _token_statistics(logprobs: Any, top: int) -> str | None:
    """The statistics of the most likely tokens; None if the reply has fewer than `top` for any token."""
    values = top_logprobs(logprobs.get("content") if isinstance(logprobs, dict) else None, top)
    return None if values is None else encode(*confidence_and_entropy(values))


def _tokens(usage: Any, name: str = "completion_tokens") -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < MOST_TOKENS else None


def _kind(value: Any) -> str:
    names = {"NoneType": "null", "dict": "an object", "list": "a list", "str": "a string", "bool": "a boolean"}
    return names.get(type(value).__name__, "a number")
