"""The sampling parameters of a run and the detected abilities of its server; both are stored in the run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.foundation.errors import SettingError, need_numbers

MAX_SEED = 2**31 - 1
MAX_SAMPLES = 100_000  # per question


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
        """Refuse impossible values before any request is sent."""
        need_numbers(n=self.n, temperature=self.temperature, top_p=self.top_p)
        need_numbers(max_tokens=self.max_tokens, seed=self.seed)
        if not self.model.strip():
            raise SettingError("the model has no name: give the name that the server uses with --model")
        if not 1 <= self.n <= MAX_SAMPLES:
            raise SettingError(
                f"cannot draw {self.n} samples per question: -n is at least 1 and at most {MAX_SAMPLES:,}"
            )
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise SettingError(f"the temperature is {self.temperature}: give a number of 0 or more, such as 0.7")
        if not 0 < self.top_p <= 1:
            raise SettingError(f"top-p is {self.top_p}: give a number above 0 and up to 1, such as 0.9")
        if self.max_tokens < 1:
            raise SettingError(f"cannot stop after {self.max_tokens} tokens: --max-tokens is at least 1")
        if not 0 <= self.seed <= MAX_SEED - self.n:
            raise SettingError(f"the seed is {self.seed}: give one from 0 to {MAX_SEED - self.n:,}")


@dataclass(frozen=True)
class Abilities:
    """The detected abilities of a server."""

    most: int = 1  # choices in one request
    logprobs: bool = False
    seed: bool = True
    usage: bool = False
    limit_name: str = "max_tokens"
