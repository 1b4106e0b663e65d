"""What a verifier scores and returns, wherever it runs, and how a response is split into steps.

The name of the split is recorded with every score:

- blank-lines   at every blank line; empty pieces are dropped
- newlines      at every newline; a blank line is a step with its own score
- merge-blank   at every newline; blank lines are dropped
- ki            at every "ки" that ends a line, as the responses of Math-Shepherd's LLM mark their steps
- whole         the response is one step
- answer        the response without its thoughts is one step
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from steelyard.answers.kind import without_thoughts
from steelyard.foundation.errors import SettingError, did_you_mean
from steelyard.sampling.verifiers.protocol import Array


@dataclass(frozen=True)
class Item:
    """One response: the text of its question, its steps, and its record in the run."""

    question: str
    steps: Sequence[str]
    sample: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scores:
    """A score in [0, 1] per step, a vector (foundation/vectors.py) or judgements (foundation/judgements.py).

    `usage` is that of a request to the verifier's server, which returned so many `samples`.
    """

    steps: list[float]
    truncated: bool = False
    usage: Mapping[str, Any] | None = field(default=None, compare=False)
    vector: str | None = field(default=None, repr=False)
    samples: int = field(default=1, compare=False, repr=False)
    judgements: Mapping[str, float] | None = field(default=None, repr=False)

    @property
    def content(self) -> dict[str, Any]:
        """The scores, the vector or the judgements by the name of the field in a record."""
        if self.judgements is not None:
            return {"judgements": dict(self.judgements)}
        return {"steps": self.steps} if self.vector is None else {"vector": self.vector}


Results: TypeAlias = AsyncGenerator[tuple[Item, Scores | str], None]  # a str says why there are no scores


class Runner(Protocol):
    """Where a verifier runs. `detected` describes it, as detected at the start."""

    detected: dict[str, Any]

    def score(self, items: Iterator[Item]) -> Results:
        """Score items in any order, each once."""
        ...

    async def close(self) -> None:
        """Release all resources."""
        ...


def usage_of(reply: Any) -> Mapping[str, Any] | None:
    """The usage in a reply; None if it reports none.

    >>> usage_of({"usage": {"prompt_tokens": 7}}), usage_of([])
    ({'prompt_tokens': 7}, None)
    """
    usage = reply.get("usage") if isinstance(reply, dict) else None
    return usage if isinstance(usage, dict) else None


def checked(scores: Array | Sequence[float], truncated: bool, usage: Mapping[str, Any] | None = None) -> Scores | str:
    """Scores, or the reason why they are invalid: NaN, or outside [0, 1].

    >>> checked([0.5, 1.0], truncated=False)
    Scores(steps=[0.5, 1.0], truncated=False, usage=None)
    >>> checked([0.5, float("nan")], truncated=False)
    'the verifier gave nan, expected numbers in [0, 1]'
    """
    if isinstance(scores, list) and len(scores) == 1 and type(scores[0]) is float and 0 <= scores[0] <= 1:
        return Scores(scores, truncated, usage)  # a single score needs no array
    array = np.asarray(scores, np.float64)
    bad = array[~((array >= 0) & (array <= 1))]
    if len(bad):
        return f"the verifier gave {bad[0]:g}, expected numbers in [0, 1]"
    return Scores(array.tolist(), truncated, usage)


def _filled(pieces: list[str]) -> list[str]:
    return [piece for piece in pieces if piece.strip()]


SPLITS: dict[str, Callable[[str], list[str]]] = {
    "blank-lines": lambda text: _filled(text.split("\n\n")),
    "newlines": lambda text: text.split("\n"),
    "merge-blank": lambda text: _filled(text.split("\n")),
    "ki": lambda text: _filled([piece.strip().removesuffix("ки").strip() for piece in text.split("ки\n")]),
    "whole": lambda text: [text],
    "answer": lambda text: _filled([without_thoughts(text)]),
}


def split(response: str, how: str) -> list[str]:
    r"""The steps of a response. A response without text has none. Windows line ends are read as newlines.

    >>> split("First.\n\nThen,\nso.\n\n\n\nEnd.", "blank-lines")
    ['First.', 'Then,\nso.', 'End.']
    >>> split("a\n\nb", "newlines"), split("a\n\nb", "merge-blank")
    (['a', '', 'b'], ['a', 'b'])
    >>> split("Step 1: a ки\nStep 2: b ки", "ki")
    ['Step 1: a', 'Step 2: b']
    """
    if not response.strip():
        return []
    return SPLITS[checked_split(how)](response.replace("\r\n", "\n"))


def checked_split(how: str) -> str:
    """The name of a split, or an error that lists them."""
    if how not in SPLITS:
        raise SettingError(f"unknown split {how!r}: {did_you_mean(how, SPLITS)}")
    return how
