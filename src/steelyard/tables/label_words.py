"""Labels written as words: correct/incorrect, right/wrong, yes/no, pass/fail, C/I."""

from __future__ import annotations

import polars as pl

JUDGED = {
    "correct": True, "incorrect": False, "right": True, "wrong": False, "pass": True, "fail": False,
    "passed": True, "failed": False,
}  # fmt: skip
ANY = JUDGED | {
    "true": True, "false": False, "yes": True, "no": False, "y": True, "n": False, "t": True, "f": False,
    "c": True, "i": False, "1": True, "0": False, "1.0": True, "0.0": False,
}  # fmt: skip


def labels_of(column: pl.Expr) -> pl.Expr:
    """Convert words to true and false; null if a word is neither.

    >>> table = pl.DataFrame({"correct": ["Correct", "incorrect ", "C", "no", "maybe"]})
    >>> table.select(labels_of(pl.col("correct")))["correct"].to_list()
    [True, False, True, False, None]
    """
    words = column.str.strip_chars().str.to_lowercase()
    return words.replace_strict(ANY, default=None, return_dtype=pl.Boolean)


def are_labels(frame: pl.LazyFrame, name: str, *, judged: bool = False) -> bool:
    """Whether a text column contains only such words.

    With `judged`, only words that judge a response count, because "yes" and "true" may be answers.
    """
    words = pl.col(name).str.strip_chars().str.to_lowercase().drop_nulls()
    accepted = list(JUDGED if judged else ANY)
    row = frame.select(words.is_in(accepted).all().alias("all"), words.len().alias("count")).collect(engine="streaming")
    return bool(row["all"][0]) and bool(row["count"][0])
