"""What is asked of the model: the parameters of a run, and the body of one request."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from steelyard.errors import SettingError
from steelyard.sampling.parsing import MOST_BYTES

TOKEN_BYTES = 400  # of one token with its log-probability in a reply, generously
MOST_SEED = 2**31 - 1
MOST_SAMPLES = 100_000  # a question


@dataclass(frozen=True)
class Sampling:
    """The parameters of a run. Sample i of a question has the seed `seed + i`."""

    model: str
    n: int = 32
    temperature: float = 0.7
    top_p: float = 0.9
    max_tokens: int = 2048
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no server can do, before any is asked."""
        if not self.model.strip():
            raise SettingError("the model has no name: give the one the server knows it by with --model")
        if not 1 <= self.n <= MOST_SAMPLES:
            raise SettingError(
                f"cannot draw {self.n} samples a question: -n is at least 1 and at most {MOST_SAMPLES:,}"
            )
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise SettingError(f"the temperature is {self.temperature}: give a number of 0 or more, such as 0.7")
        if not 0 < self.top_p <= 1:
            raise SettingError(f"top-p is {self.top_p}: give a number above 0 and up to 1, such as 0.9")
        if self.max_tokens < 1:
            raise SettingError(f"cannot stop after {self.max_tokens} tokens: --max-tokens is at least 1")
        if not 0 <= self.seed <= MOST_SEED - self.n:
            raise SettingError(f"the seed is {self.seed}: give one from 0 to {MOST_SEED - self.n:,}")


@dataclass(frozen=True)
class Abilities:
    """What a server was found to do."""

    most: int = 1  # choices in one request
    logprobs: bool = False
    seed: bool = True
    usage: bool = False
    limit_name: str = "max_tokens"

    def fitting(self, sampling: Sampling) -> int:
        """How many samples one request may ask for so that its reply stays within what we read.

        >>> Abilities(most=64, logprobs=True).fitting(Sampling("m", max_tokens=2048))
        40
        """
        size = sampling.max_tokens * (TOKEN_BYTES if self.logprobs else TOKEN_BYTES // 16)
        return max(1, min(self.most, MOST_BYTES // size))


def body_of(
    sampling: Sampling, abilities: Abilities, prompt: str, *, n: int, first: int, max_tokens: int | None = None
) -> dict[str, Any]:
    """The body that asks for samples first .. first + n - 1 of a prompt.

    One request has one seed, that of its first sample. vLLM and llama.cpp give choice j the seed + j, so there every
    sample has its own; other servers derive the seeds of the other choices as they like.
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
        body |= {"logprobs": True, "top_logprobs": 1}  # without top_logprobs llama.cpp sends twenty a token
    return body
