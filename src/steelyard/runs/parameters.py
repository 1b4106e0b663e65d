"""The parameters of a run as its manifest stores them: sampling parameters, abilities of the server, and sources.

A source is a named upstream with its model and its address, identified by its name. A new source is added to the run, a
source that a command omits is left as it is, and a source with another model is refused. The address may change,
because servers move.

In the journal, sample i of source number k has the number 100 i + k: every sample has a unique number, and neither more
samples nor a new source change existing numbers. A run whose upstream has no name has no sources, and the number of a
sample is i itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar

from steelyard.foundation.errors import SettingError, need_numbers
from steelyard.voting.pools.arrays import Ints

MAX_SEED = 2**31 - 1
MAX_TOP_LOGPROBS = 100
MAX_SAMPLES = 100_000  # per question
Sources = dict[str, dict[str, str]]
FIELDS = {"model", "upstream"}
Number = TypeVar("Number", int, Ints)
MAX_SOURCES = 100
MAX_SAMPLES_PER_SOURCE = MAX_SAMPLES // MAX_SOURCES  # samples per question


@dataclass(frozen=True)
class Sampling:
    """The parameters of a run. Sample i of a question has the seed `seed + i`."""

    model: str
    n: int = 32
    temperature: float = 0.7
    top_p: float = 0.9
    max_tokens: int = 2048
    seed: int = 0
    top_logprobs: int = 0  # most likely tokens whose log-probabilities are requested; 0: statistics are not stored

    def __post_init__(self) -> None:
        """Refuse impossible values before any request is sent."""
        need_numbers(n=self.n, temperature=self.temperature, top_p=self.top_p)
        need_numbers(max_tokens=self.max_tokens, seed=self.seed)
        if not self.model.strip():
            raise SettingError("the model has no name: give the name that the server uses with --model")
        if not 1 <= self.n <= MAX_SAMPLES:
            raise SettingError(f"cannot draw {self.n} samples per question: -n must be between 1 and {MAX_SAMPLES:,}")
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise SettingError(f"the temperature is {self.temperature}: give a number of 0 or more, such as 0.7")
        if not 0 < self.top_p <= 1:
            raise SettingError(f"top-p is {self.top_p}: give a number above 0 and up to 1, such as 0.9")
        if self.max_tokens < 1:
            raise SettingError(f"cannot stop after {self.max_tokens} tokens: --max-tokens is at least 1")
        need_numbers(top_logprobs=self.top_logprobs)
        if self.top_logprobs != 0 and not 2 <= self.top_logprobs <= MAX_TOP_LOGPROBS:
            raise SettingError(
                f"cannot request the log-probabilities of {self.top_logprobs} tokens: --top-logprobs is between 2 and "
                f"{MAX_TOP_LOGPROBS}, such as 20"
            )
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


def check_sources(sources: Any) -> None:
    """Raise a ValueError for sources that no command would write."""
    for name, source in sources.items():
        texts = isinstance(source, dict) and set(source) == FIELDS and all(isinstance(v, str) for v in source.values())
        if not name.strip() or not texts:
            raise ValueError(f"sources.{name:.40} is {source!r:.40}")
    if len(sources) > MAX_SOURCES:
        raise ValueError(f"it has {len(sources)} sources")


def source_changes(current: Sources, requested: Sources) -> list[str]:
    """Describe which `requested` sources are incompatible with the `current` ones, one sentence each.

    >>> source_changes({"a": {"model": "m", "upstream": ""}}, {"a": {"model": "k", "upstream": ""}})
    ["the model of a was 'm', now 'k'"]
    """
    if bool(current) != bool(requested):
        return [f"the upstreams were {_describe(current)}, now {_describe(requested)}"]
    by_folded_name = {name.casefold(): name for name in current}
    changes = []
    for name, source in requested.items():
        existing = by_folded_name.get(name.casefold())
        if existing is not None and existing != name:
            changes.append(f"the upstream {name} was called {existing}")
        elif existing and current[name]["model"] != source["model"]:
            changes.append(f"the model of {name} was {current[name]['model']!r}, now {source['model']!r}")
    return changes


def merge_sources(current: Sources, requested: Sources) -> Sources:
    """Return the sources of a resumed run: the current ones in their order, then the new ones."""
    return current | {name: source for name, source in requested.items() if name not in current}


def _describe(sources: Sources) -> str:
    return f"named {', '.join(sources)}" if sources else "a single one without a name"


def number_of(sample: int, source: int) -> int:
    """Return the journal number of a sample; `source` is the index of its source in the run.

    >>> number_of(2, 1), split_number(201)
    (201, (2, 1))
    """
    return sample * MAX_SOURCES + source


def split_number(number: Number) -> tuple[Number, Number]:
    """Return the sample and the source of a journal number, or of an array of numbers."""
    return number // MAX_SOURCES, number % MAX_SOURCES
