"""The chosen kind of answers of a table, and the evidence for it; auto_kind.py chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

DEFAULT = "math"
BY_WORDS, BY_CHARACTERS = "free", "free:characters"  # kinds that compare sentences


class KindChoice(NamedTuple):
    """The chosen kind and the reason; `doubtful` if part of the table may be of another kind.

    `free` is the kind of free text that fits if the responses, which mark no answer, have to be compared as a whole.
    """

    kind: str
    reason: str
    doubtful: bool = False
    free: str | None = None


@dataclass(frozen=True)
class Evidence:
    """Evidence for the kind of a table: one gold per question, and some of its answers or responses.

    Answers and responses are fetched only if the golds do not settle the question.
    """

    golds: Sequence[str] = ()
    answers: Callable[[], Sequence[str]] | None = None
    responses: Callable[[], Sequence[str]] | None = None
