"""What is scored and what comes back, wherever a verifier runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from steelyard.sampling.verifiers.protocol import Array


@dataclass(frozen=True)
class Item:
    """One response: its question's text, its steps, and what the run recorded of it."""

    question: str
    steps: Sequence[str]
    sample: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scores:
    """One score in [0, 1] a step that was kept; `usage` is what the verifier's server counted, where it says so."""

    steps: list[float]
    truncated: bool = False
    usage: Mapping[str, Any] | None = field(default=None, compare=False)


Results: TypeAlias = AsyncGenerator[tuple[Item, Scores | str], None]  # a str says why there are no scores


class Runner(Protocol):
    """Where a verifier runs. `found` says what was found at the start."""

    found: dict[str, Any]

    def score(self, items: Iterator[Item]) -> Results:
        """Score items in any order, each once."""
        ...

    async def close(self) -> None:
        """Let go of what is held."""
        ...


def usage_of(reply: Any) -> Mapping[str, Any] | None:
    """What a server counted for a reply; None where it says nothing.

    >>> usage_of({"usage": {"prompt_tokens": 7}}), usage_of([])
    ({'prompt_tokens': 7}, None)
    """
    usage = reply.get("usage") if isinstance(reply, dict) else None
    return usage if isinstance(usage, dict) else None


def checked(scores: Array | Sequence[float], truncated: bool, usage: Mapping[str, Any] | None = None) -> Scores | str:
    """Scores, or why they are none: a number that is not one, or outside [0, 1].

    >>> checked([0.5, 1.0], truncated=False)
    Scores(steps=[0.5, 1.0], truncated=False, usage=None)
    >>> checked([0.5, float("nan")], truncated=False)
    'the verifier gave nan, expected numbers in [0, 1]'
    """
    if isinstance(scores, list) and len(scores) == 1 and type(scores[0]) is float and 0 <= scores[0] <= 1:
        return Scores(scores, truncated, usage)  # one score takes no array
    array = np.asarray(scores, np.float64)
    bad = array[~((array >= 0) & (array <= 1))]
    if len(bad):
        return f"the verifier gave {bad[0]:g}, expected numbers in [0, 1]"
    return Scores(array.tolist(), truncated, usage)
