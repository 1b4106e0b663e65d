"""The largest max_tokens that an upstream accepts, read from its error when it refuses more.

OpenAI: "max_tokens is too large: 9000. This model supports at most 4096 completion tokens, .."
vLLM:   "This model's maximum context length is 4096 tokens. However, you requested 9023 tokens (23 in the messages, .."

The model's limit is the largest number in the error that is below the refused one. A context window also holds the
prompt, whose length in tokens is the next smaller number.
"""

from __future__ import annotations

import re
import time
from typing import NamedTuple

from steelyard.sampling.llm.faults import RefusedError

LIFETIME = 600.0  # seconds to remember a limit: the upstream may be restarted with another one
_NUMBER = re.compile(r"(?<![\w.,-])(?:\d{1,3}(?:,\d{3})+|\d+)(?![\w-]|[.,]\d)")
_WINDOW = re.compile(r"context|input|prompt|messages", re.IGNORECASE)


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
        """Remember a limit that was accepted."""
        self._limit, self._until = limit, time.monotonic() + LIFETIME


def refused_limit(sent: int, error: RefusedError) -> ModelLimit | None:
    """The limit named in a refusal, if the request may succeed within it."""
    return None if error.everywhere else model_limit(sent, error.reason.removeprefix(f"HTTP {error.status}"))
