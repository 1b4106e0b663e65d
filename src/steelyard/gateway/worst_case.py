"""What a request may cost at worst, held against the limits before any upstream is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from steelyard.errors import SettingError
from steelyard.gateway.api_errors import ApiError
from steelyard.gateway.caps import Caps
from steelyard.gateway.chat_request import ChatRequest

MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """What a million tokens cost, of the prompt and of the response."""

    prompt: float
    completion: float

    def of(self, usage: dict[str, Any] | None) -> float | None:
        """The cost of a usage; None where nobody counted it.

        >>> Price(1.0, 4.0).of({"prompt_tokens": 1000, "completion_tokens": 500}), Price(1.0, 4.0).of(None)
        (0.003, None)
        """
        counts = [(usage or {}).get(name) for name in ("prompt_tokens", "completion_tokens")]
        if not all(type(count) is int for count in counts):
            return None
        return (counts[0] * self.prompt + counts[1] * self.completion) / MILLION  # type: ignore[operator]


def read_price(text: str) -> Price:
    """Read the prices of a million tokens, of the prompt and of the response.

    >>> read_price("0.15,0.6")
    Price(prompt=0.15, completion=0.6)
    """
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        prompt = completion = math.nan
    if not (0 <= prompt < math.inf and 0 <= completion < math.inf):
        raise SettingError(f"cannot read the prices {text!r:.60}: write those of a million tokens as PROMPT,RESPONSE")
    return Price(prompt, completion)


def sample_limit(asked: ChatRequest, n: int, caps: Caps, price: Price | None, most: int | None = None) -> int | None:
    """The most tokens of each of n samples, where there is a limit; a request that may go beyond it is refused.

    `most` is what the client allows for all samples together. A token of the prompt has at least one byte.
    """
    limits = [limit for limit in (most, caps.tokens) if limit is not None]
    if caps.cost is not None and price is not None and price.completion > 0:
        size = sum(len(written) for written in asked.members.written.values())
        left = caps.cost - n * size * price.prompt / MILLION
        limits.append(math.floor(left * MILLION / price.completion))
    if not limits:
        return None
    each = min(limits) // n
    if each < 1 or (asked.max_tokens or 0) > each:
        wanted = f"up to {asked.max_tokens:,}" if asked.max_tokens else "at least one"
        raise ApiError(
            400, f"{n} samples of {wanted} tokens may go beyond what is allowed, {max(0, each):,} each: ask for fewer "
            "samples (steelyard.n), or for shorter ones (max_tokens)", param="max_tokens", code="over_budget",
        )  # fmt: skip
    return each
