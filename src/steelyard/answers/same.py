"""The one place that decides when two answers are the same answer.

Today: when their text is the same once white space around it is gone; nothing left means that
there is no readable answer. Everything else in Steelyard compares what `key` returns.
"""

import polars as pl


def key(answer: pl.Expr) -> pl.Expr:
    """Map answers to keys that are equal exactly when the answers are; null = unreadable."""
    text = answer.cast(pl.String).str.strip_chars()
    return pl.when(text != "").then(text)
