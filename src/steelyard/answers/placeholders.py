"""Words that programs write into a column of answers where there is none: None, null, nan, N/A, [invalid].

Read as answers they agree with each other and win votes. Kinds that compare what is written keep them: `exact`, `text`,
`code` (None is a value of Python), `json` (null is one of JSON) and patterns.
"""

from __future__ import annotations

import polars as pl

PLACEHOLDERS = frozenset(
    ("none", "null", "nan", "n/a", "na", "#n/a", "<na>", "<none>", "[none]", "[invalid]", "invalid", "[no answer]",
     "no answer", "no_answer")
)  # fmt: skip
KEEPING = frozenset(("exact", "text", "code", "json"))


def as_word(text: str) -> str:
    """A text as it is compared with the placeholders."""
    return text.strip().lower()


def words(column: pl.Expr) -> pl.Expr:
    """A column of texts as they are compared with the placeholders."""
    return column.str.strip_chars().str.to_lowercase()
