"""Labels of responses -> labels of answers. Graders err: the same answer may be labelled correct and incorrect.

An answer is correct if more than half of its responses are labelled correct; a tie is incorrect. `strict` refuses such
an answer instead.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import LabelError, SettingError, SteelyardWarning, did_you_mean
from steelyard.voting.pools.arrays import Bools, Codes, Ints

MAJORITY, STRICT = "majority", "strict"
POLICIES = (MAJORITY, STRICT)


class Answers(Protocol):
    """What a pool says about its answers."""

    @property
    def starts(self) -> Ints: ...
    @property
    def answer(self) -> Codes: ...
    @property
    def base(self) -> Ints: ...
    @property
    def width(self) -> Ints: ...
    @property
    def questions(self) -> Any: ...
    @property
    def names(self) -> Any: ...
    @property
    def readable(self) -> Bools: ...
    def spread(self, per_question: NDArray[Any]) -> NDArray[Any]: ...


@dataclass
class LabelConflicts:
    """Labels the answers of one pool after another, and counts the answers whose labels disagree."""

    policy: str = MAJORITY
    answers: int = 0
    first: str = ""

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise SettingError(f"unknown labels {self.policy!r}: {did_you_mean(str(self.policy), POLICIES)}")

    def label(self, pool: Answers, correct: Bools) -> Bools:
        """Return the label of every answer, by base + code and one entry more, from those of the responses [R]."""
        size = int((pool.base + pool.width).max()) + 1
        answer = np.where(pool.readable, pool.spread(pool.base) + pool.answer, size - 1)
        total, right = np.bincount(answer, minlength=size), np.bincount(answer[correct], minlength=size)
        total[-1] = right[-1] = 0  # responses without an answer
        mixed = (right > 0) & (right < total)
        if mixed.any():
            row = int(np.argmax(mixed[answer]))
            self._add(pool, row, int(mixed.sum()), int(right[answer[row]]), int(total[answer[row]]))
        return 2 * right > total

    def warn(self) -> None:
        """Report the answers whose labels disagree, once for a whole table."""
        if self.answers:
            verb = "answer is" if self.answers == 1 else "answers are"
            warnings.warn(
                f"{self.answers:,} {verb} labelled correct and incorrect, first: {self.first}; each gets the label of "
                f"most of its responses (a tie is incorrect); {argument('labels', STRICT)} refuses such a file",
                SteelyardWarning,
                stacklevel=3,
            )

    def _add(self, pool: Answers, row: int, answers: int, right: int, total: int) -> None:
        question = int(np.searchsorted(pool.starts, row, side="right")) - 1
        code = pool.answer[row]
        name = code if pool.names is None else pool.names[int(pool.base[question] + code)]
        if self.policy == STRICT:
            raise LabelError(
                f"question {str(pool.questions[question])!r}: the answer {str(name)!r:.80} is labelled correct and "
                f"incorrect ({right:,} and {total - right:,} responses); make its labels agree, or read with "
                f"{argument('labels', MAJORITY)}"
            )
        if not self.answers:
            self.first = (
                f"question {str(pool.questions[question])!r:.80}, answer {str(name)!r:.80} ({right:,} correct, "
                f"{total - right:,} incorrect)"
            )
        self.answers += answers
