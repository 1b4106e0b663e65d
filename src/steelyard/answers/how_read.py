"""How many responses were cut off before they marked an answer, and how many were read only as their last number.

Both are readings to doubt: a response that its length limit ended, "Let me think about 3 and", has not answered, and
the last number of a text need not be its answer. So the first cast no vote, and both are reported.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import polars as pl

from steelyard.answers.kind import CUT_OFF, Extracted
from steelyard.foundation.errors import SteelyardNote

LAST_NUMBER = "number"  # the rule of `math`, `number` and `exact` for a text that marks nothing
MOST = 0.05  # a larger share of last numbers is reported
CUT_REASONS = (  # why a response ended, in the words of OpenAI, vLLM, Anthropic, Gemini, Inspect and the Responses API
    "length", "max_tokens", "max_output_tokens", "max_new_tokens", "model_length", "token_limit", "truncated",
)  # fmt: skip


class HowRead:
    """Counts of the responses whose answers were read out of their text."""

    def __init__(self) -> None:
        self.extracted = 0
        self.last_numbers = 0
        self.cut = 0

    def add(self, readings: Sequence[Extracted]) -> None:
        """Count what was read out of some responses."""
        self.extracted += len(readings)
        self.last_numbers += sum(rule == LAST_NUMBER for _, rule in readings)
        self.cut += sum(reading is CUT_OFF for reading in readings)

    def add_counts(self, extracted: int, last_numbers: int, cut: int) -> None:
        """Count what was read elsewhere: by a worker, or by the run that stored the answers."""
        self.extracted += extracted
        self.last_numbers += last_numbers
        self.cut += cut

    def tell(self) -> None:
        """Report a large share of last numbers."""
        if self.last_numbers > MOST * self.extracted:
            share = 100 * self.last_numbers / self.extracted
            warnings.warn(
                f"{share:.1f} % of {self.extracted:,} responses mark no answer and were read only as the last number "
                "of the text: 'steelyard answers FILE' shows how each was read",
                SteelyardNote,
                stacklevel=4,
            )


def is_cut(finish: str | None) -> bool:
    """Whether a response ended because of its length limit, by the reason that its server gave.

    >>> is_cut("length"), is_cut("MAX_TOKENS"), is_cut("stop"), is_cut(None)
    (True, True, False, False)
    """
    return finish is not None and finish.lower() in CUT_REASONS


def cut_expression(column: str) -> pl.Expr:
    """Whether each response ended because of its length limit, by a column of reasons."""
    return pl.col(column).cast(pl.String).str.to_lowercase().is_in(CUT_REASONS).fill_null(value=False)
