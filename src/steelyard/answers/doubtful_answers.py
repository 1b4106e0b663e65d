"""Missing and doubtful answers: placeholders, responses that were cut off, and those read only as their last number.

Programs write placeholders for a missing answer: None, null, nan, N/A, [invalid]. Read as answers, they would agree
with each other and win votes. Kinds that compare literally keep them: `exact`, `text`, `code` (None is a Python value),
`json` (null is a JSON value) and patterns.

A response that hit its length limit ("Let me think about 3 and") has not answered, so it casts no vote; and the last
number of a text need not be its answer. Both are reported.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import polars as pl

from steelyard.answers.kind import CUT_OFF, Extracted
from steelyard.answers.kind_choice import BY_WORDS
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import SteelyardNote

LAST_NUMBER = "number"  # the rule of `math`, `number` and `exact` for a text that marks no answer
LAST_NUMBER_ONLY = "read only as the last number"
REPORTED = 0.05  # a larger share of last numbers is reported
CUT_REASONS = (  # finish reasons of OpenAI, vLLM, Anthropic, Gemini, Inspect and the Responses API
    "length", "max_tokens", "max_output_tokens", "max_new_tokens", "model_length", "token_limit", "truncated",
)  # fmt: skip
PLACEHOLDERS = frozenset(
    ("none", "null", "nan", "n/a", "na", "#n/a", "<na>", "<none>", "[none]", "[invalid]", "invalid", "[no answer]",
     "no answer", "no_answer")
)  # fmt: skip
KEEPING = frozenset(("exact", "text", "code", "json"))


class ReadingCounts:
    """Counts over the responses whose answers were extracted from their text."""

    def __init__(self) -> None:
        self.extracted = 0
        self.last_numbers = 0
        self.cut = 0

    def add(self, readings: Sequence[Extracted]) -> None:
        """Count the answers extracted from some responses."""
        self.extracted += len(readings)
        self.last_numbers += sum(rule == LAST_NUMBER for _, rule in readings)
        self.cut += sum(reading is CUT_OFF for reading in readings)

    def add_counts(self, extracted: int, last_numbers: int, cut: int) -> None:
        """Add counts from elsewhere: from a worker, or from the run that stored the answers."""
        self.extracted += extracted
        self.last_numbers += last_numbers
        self.cut += cut

    def warn(self, free: str = BY_WORDS) -> None:
        """Report a large share of answers that are only last numbers; `free` is the kind for free text."""
        if self.last_numbers > REPORTED * self.extracted:
            share = 100 * self.last_numbers / self.extracted
            warnings.warn(
                f"{share:.1f} % of {self.extracted:,} responses mark no answer and were {LAST_NUMBER_ONLY} "
                "of the text: 'steelyard answers FILE' shows how each was read; if the responses are free text, "
                f"add {argument('answers', free)}",
                SteelyardNote,
                stacklevel=4,
            )


def is_cut(finish: str | None) -> bool:
    """Whether a response hit its length limit, according to the finish reason of its server.

    >>> is_cut("length"), is_cut("MAX_TOKENS"), is_cut("stop"), is_cut(None)
    (True, True, False, False)
    """
    return finish is not None and finish.lower() in CUT_REASONS


def cut_expression(column: str) -> pl.Expr:
    """Whether each response hit its length limit, given a column of finish reasons."""
    return pl.col(column).cast(pl.String).str.to_lowercase().is_in(CUT_REASONS).fill_null(value=False)


def folded_column(column: pl.Expr) -> pl.Expr:
    """Return a column in the form that is compared with the placeholders."""
    return column.str.strip_chars().str.to_lowercase()
