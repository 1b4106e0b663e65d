"""Patterns of score columns: `prm_*`, `judge_?`, `prm_*:min`, `sigmoid(rm_*)`, `(judge_*-1)/9`.

A pattern matches columns of numbers, or of lists of numbers, as a shell matches file names. It never matches a column
with a role of its own, such as the question, the answer, the sample or a label. A step column counts with each of its
reducers, unless the pattern names one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import polars as pl

from steelyard.foundation.errors import ColumnError, did_you_mean
from steelyard.tables.columns import KNOWN
from steelyard.tables.computed.token_scores import TOKEN_LISTS
from steelyard.tables.names import EMBEDDINGS, LABELS, LATE_GOLDS, LLMS, NO_SCORES, TEXTS, key
from steelyard.tables.score_spelling import Score, parse_score

WILDCARDS = frozenset("*?[")
ROLES = KNOWN | LABELS | LATE_GOLDS | TEXTS | set(LLMS) | set(TOKEN_LISTS)


def expand_pattern(schema: pl.Schema, text: str, reducers: Collection[str]) -> list[str] | None:
    """Return the scores that a pattern stands for, in the order of the columns; None if the text is no pattern.

    >>> schema = pl.Schema({"correct": pl.Int64, "prm_a": pl.Float64, "prm_b": pl.List(pl.Float64), "text": pl.String})
    >>> expand_pattern(schema, "prm_*", ("last", "min")), expand_pattern(schema, "*:min", ("last", "min"))
    (['prm_a', 'prm_b:last', 'prm_b:min'], ['prm_a', 'prm_b:min'])
    >>> expand_pattern(schema, "prm_b:*", ("last", "min")) is None
    True
    """
    score = parse_score(text)
    if score is None or text in schema or score.column in schema or not WILDCARDS & set(score.column):
        return None
    columns = [name for name in schema if _may_be_score(name, schema[name])]
    matching = [name for name in columns if fnmatchcase(name, score.column)]
    if not matching:
        raise ColumnError(f"no score column matches {score.column!r}: {did_you_mean(score.column, columns)}")
    return [spelling for name in matching for spelling in _spellings(score, name, schema[name], reducers)]


def covered(requested: Sequence[str], names: Sequence[str]) -> bool:
    """Whether the requested scores, patterns among them, are exactly these names, as far as names can tell."""
    if not any(WILDCARDS & set(score.column) for part in requested if (score := parse_score(part))):
        return False
    matches = [{name for name in names if _matches(part, name)} for part in requested]
    return all(matches) and set().union(*matches) == set(names)


def _matches(part: str, name: str) -> bool:
    pattern, score = parse_score(part), parse_score(name)
    if pattern is None or score is None or not fnmatchcase(score.column, pattern.column):
        return False
    same_reducer = pattern.reducer in (None, "*", score.reducer) or score.reducer is None
    return same_reducer and replace(pattern, column="", reducer=None) == replace(score, column="", reducer=None)


def _spellings(score: Score, column: str, kind: Any, reducers: Collection[str]) -> list[str]:
    """One score per reducer of a step column; one for a column of numbers."""
    if not isinstance(kind, pl.List | pl.Array):
        return [replace(score, column=column, reducer=None).name]
    chosen = reducers if score.reducer in (None, "*") else [score.reducer]
    return [replace(score, column=column, reducer=name).name for name in chosen]


def _may_be_score(name: str, kind: Any) -> bool:
    """Whether a pattern may match a column: it contains numbers, and its name gives it no other role."""
    if key(name) in ROLES or EMBEDDINGS.search(key(name)) or NO_SCORES.search(key(name)):
        return False
    inner = kind.inner if isinstance(kind, pl.List | pl.Array) else kind
    steps = inner is not kind
    return bool(inner.is_float() or (inner.is_integer() and not steps))
