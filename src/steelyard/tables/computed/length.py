"""The length of a response among the responses of its question.

    x = log(1 + length),    score = sigma((x - median) / spread)        within the question (and source)

The length is the token count of the table, else the number of characters of the response; `length(COLUMN)` names
another column with counts or texts. Whether longer or shorter responses are better depends on the LLM and the
questions, so methods that learn from labels learn it; `1-length` says that shorter is better.
"""

from __future__ import annotations

import polars as pl

from steelyard.tables.computed.computed_score import ComputedScore

TOKEN_COUNTS = ("tokens", "completion_tokens", "output_tokens", "num_tokens", "n_tokens", "token_count")


def accepts(kind: pl.DataType) -> bool:
    """Whether a column has counts or texts."""
    return kind == pl.String or (kind.is_numeric() and kind != pl.Null)


def log_lengths(column: pl.Series) -> pl.Series:
    """Return log(1 + length) of counts or texts; infinite where a number is not a length.

    >>> log_lengths(pl.Series(["ab", None])).round(3).to_list(), log_lengths(pl.Series([0, 6])).round(3).to_list()
    ([1.099, None], [0.0, 1.946])
    """
    counts = column.str.len_chars() if column.dtype == pl.String else column
    lengths = counts.cast(pl.Float64).fill_nan(None)
    return lengths.set(lengths < 0, float("inf")).log1p()


SCORES = (
    ComputedScore(
        name="length",
        columns=(*TOKEN_COUNTS, "response"),
        reads="token counts, other lengths or texts",
        accepts=accepts,
        values=log_lengths,
        missing="add a column 'tokens' or 'response', or name the column with the lengths, as in length(COLUMN)",
        relative=True,
        undirected=True,
    ),
)
