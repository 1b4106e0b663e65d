"""Limits that an upstream reveals: the largest max_tokens, the name of that field, and the number of choices.

The largest max_tokens is read from the error that refuses more:

OpenAI: "max_tokens is too large: 9000. This model supports at most 4096 completion tokens, .."
vLLM:   "This model's maximum context length is 4096 tokens. However, you requested 9023 tokens (23 in the messages, .."

The model's limit is the largest number in the error that is below the refused one. A context window also holds the
prompt, whose length in tokens is the next smaller number.

The number of choices comes from the probe. A reply with fewer choices than requested, or a refusal that names `n`, may
concern only one request (vLLM: "n must be 1 when using greedy sampling"), so it changes nothing by itself: it triggers
another probe, whose result is used for a while.
"""

from __future__ import annotations

import math
import re
import time
from typing import NamedTuple

from steelyard.sampling.llm.faults import RefusedError

LIFETIME = 600.0  # seconds to remember a limit: the upstream may be restarted with another one
_NUMBER = re.compile(r"(?<![\w.,-])(?:\d{1,3}(?:,\d{3})+|\d+)(?![\w-]|[.,]\d)")
_WINDOW = re.compile(r"context|input|prompt|messages", re.IGNORECASE)
NAMES = ("max_tokens", "max_completion_tokens")
BELIEVED = 600.0  # seconds to use the result of a probe
_NAMES_N = re.compile(r"(?<![\w.'-])[`'\"]?(n|n_cmpl|num_choices)[`'\"]?(?![\w'-])")


class ModelLimit(NamedTuple):
    """The limit in tokens, and the tokens of the prompt if the limit is a context window."""

    tokens: int
    prompt: int = 0

    @property
    def accepted(self) -> int:
        """The largest max_tokens to send: one fewer than fits, because some servers exclude the limit itself."""
        return self.tokens - self.prompt - 1


def model_limit(sent: int, refusal: str) -> ModelLimit | None:
    """The limit named in the error that refused max_tokens=`sent`; None if it names none.

    >>> model_limit(9000, "max_tokens is too large: 9000. This model supports at most 4096 completion tokens")
    ModelLimit(tokens=4096, prompt=0)
    >>> model_limit(9000, "'max_tokens' is too large: 9000. This model's maximum context length is 4,096 tokens and "
    ...             "your request has 23 input tokens (9000 > 4096 - 23).")
    ModelLimit(tokens=4096, prompt=23)
    >>> model_limit(9000, "temperature must be at most 2")
    """
    if "token" not in refusal.lower():
        return None
    numbers = {int(number.replace(",", "")) for number in _NUMBER.findall(refusal) if len(number) < 20}
    smaller = sorted((number for number in numbers if number < sent), reverse=True)
    if not smaller:
        return None
    prompt = smaller[1] if len(smaller) > 1 and _WINDOW.search(refusal) else 0
    limit = ModelLimit(smaller[0], prompt)
    return limit if limit.accepted > 0 else None


def refused_limit(sent: int, error: RefusedError) -> ModelLimit | None:
    """The limit named in a refusal, if the request may succeed within it."""
    return None if error.everywhere else model_limit(sent, error.reason.removeprefix(f"HTTP {error.status}"))


class TokenLimit:
    """The limit of one upstream's model, once a refusal has named it."""

    def __init__(self) -> None:
        self._limit: ModelLimit | None = None
        self._until = 0.0

    def lowered(self, tokens: int, prompt_bytes: int) -> int:
        """The max_tokens to send instead of `tokens`, for a prompt of `prompt_bytes`.

        At least half of a context window: a token usually has several bytes, and a refusal says what really fits.
        """
        if self._limit is None or time.monotonic() >= self._until:
            return tokens
        window = self._limit.tokens
        return min(tokens, max(window - prompt_bytes, window // 2) if self._limit.prompt else self._limit.accepted)

    def learn(self, limit: ModelLimit) -> None:
        self._limit, self._until = limit, time.monotonic() + LIFETIME


def other_name(name: str, refusal: str) -> str | None:
    """The other name of the field, if a refusal mentions it.

    >>> other_name("max_tokens", "HTTP 400: 'max_tokens' is not supported, use 'max_completion_tokens' instead")
    'max_completion_tokens'
    """
    other = NAMES[1 - NAMES.index(name)]
    return other if other in refusal else None


class ChoiceLimit:
    """The number of choices that one upstream gives."""

    def __init__(self) -> None:
        self._limit, self._until = math.inf, -math.inf

    def current(self, probed: int) -> int:
        """The number to request now, `probed` unless a later probe found another."""
        return int(min(probed, self._limit)) if time.monotonic() < self._until else probed

    def learn(self, limit: int) -> None:
        self._limit, self._until = limit, time.monotonic() + BELIEVED


def names_n(reason: str) -> bool:
    """Whether an error message mentions the number of choices.

    >>> names_n("HTTP 400: Unsupported parameter: 'n'"), names_n("HTTP 400: logit_bias is not for Aunt N")
    (True, False)
    """
    return _NAMES_N.search(reason) is not None
