"""Placeholders that programs write for a missing answer: None, null, nan, N/A, [invalid].

Read as answers, they would agree with each other and win votes. Kinds that compare literally keep them: `exact`,
`text`, `code` (None is a Python value), `json` (null is a JSON value) and patterns.
"""

from __future__ import annotations

import polars as pl

PLACEHOLDERS = frozenset(
    ("none", "null", "nan", "n/a", "na", "#n/a", "<na>", "<none>", "[none]", "[invalid]", "invalid", "[no answer]",
     "no answer", "no_answer")
)  # fmt: skip
KEEPING = frozenset(("exact", "text", "code", "json"))


def folded(text: str) -> str:
    """Return a text in the form that is compared with the placeholders."""
    return text.strip().lower()


def folded_column(column: pl.Expr) -> pl.Expr:
    """Return a column in the form that is compared with the placeholders."""
    return column.str.strip_chars().str.to_lowercase()
