"""Which columns mean what: names, the choice of a score, step reducers, labels."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import (
    ColumnError,
    LabelError,
    ScoreError,
    SteelyardNote,
    SteelyardWarning,
    did_you_mean,
)
from steelyard.tables.headerless import check_names
from steelyard.tables.label_words import labels_of
from steelyard.tables.names import INVERTED, NO_SCORES, SCORE_LIKE, SCORES, key
from steelyard.tables.score_spelling import REDUCERS, Score, spelled

KNOWN = {
    "question", "sample", "response", "answer", "rule", "correct", "gold", "prompt", "domain", "llm", "tokens",
    "finish",
}  # fmt: skip
NO_SCORE = "none"
RECORDED = "self_logprob"  # what a run has beside the scores of verifiers


def choose_score(schema: pl.Schema, wanted: str | None, needed: bool = True) -> Score | None:
    """Resolve what the user asked for against the columns there are; None = read no score.

    When no score is needed and none is named, only a column called `score` is taken for one.
    """
    if wanted == NO_SCORE and NO_SCORE not in schema:
        return None
    candidates = [name for name, kind in schema.items() if name not in KNOWN and _is_score(kind)]
    if wanted is None:
        named = "score" in schema and (_is_number(schema["score"]) or "score" in candidates)
        if not named and not needed:
            return None
        wanted = "score" if named else _only(candidates, schema)
        if INVERTED.search(key(wanted)):
            raise ScoreError(
                f"the score would be {wanted!r}, and by its name less of it is better: read it with "
                f"{argument('score', f'1-{wanted}')}, or, if more of it is better, with {argument('score', wanted)}"
            )
    meant = (None if wanted in schema else spelled(wanted)) or Score(wanted, None)
    column, reducer = meant.column, meant.reducer
    if column not in schema:
        raise ColumnError(f"no score column {column!r}: {did_you_mean(column, candidates)}")
    if reducer is not None and reducer not in REDUCERS:
        raise ColumnError(f"unknown step reducer {reducer!r} in {wanted!r}: {did_you_mean(reducer, REDUCERS)}")
    steps = _check_kind(column, schema[column], candidates)
    if reducer is not None and not steps:
        score = argument("score", column)
        raise ColumnError(f"{column!r} holds one number a response, not a list of steps: use {score}")
    _warn_of_name(meant)
    return replace(meant, reducer=(reducer or "last") if steps else None)


def _warn_of_name(score: Score) -> None:
    """Warn of a score that is weighed as it is, though by its name less of it is better."""
    if INVERTED.search(key(score.column)) and not score.flipped:
        warnings.warn(
            f"by its name less of {score.column!r} is better, and it is read as a score of which more is better: "
            f"{argument('score', f'1-{score.column}')} turns it round",
            SteelyardWarning,
            stacklevel=4,
        )


def more_is_better(column: str) -> str:
    """A score as the user may name it, turned round where by its name less of it is better.

    >>> more_is_better("prm"), more_is_better("error_prob")
    ('prm', '1-error_prob')
    """
    return f"1-{column}" if INVERTED.search(key(column)) else column


def score_columns(schema: pl.Schema) -> tuple[str, ...]:
    """The columns that hold scores, by what is in them and by their names."""
    floats = [name for name, kind in schema.items() if name not in KNOWN and _is_score(kind)]
    named = [name for name, kind in schema.items() if key(name) in SCORES and _is_number(kind) and kind != pl.Null]
    likely = [name for name in floats if SCORE_LIKE.search(key(name)) or not NO_SCORES.search(key(name))]
    return tuple(dict.fromkeys([*likely, *named]))


def _check_kind(column: str, kind: Any, candidates: list[str]) -> bool:
    """Return whether a score column holds steps; refuse what holds no numbers."""
    if column == "*" or (column.startswith("^") and column.endswith("$")):
        raise ColumnError(f"the name {column!r} would be read as a pattern: rename the column")
    steps = isinstance(kind, pl.List) or (isinstance(kind, pl.Array) and kind.size > 0)
    if not _is_number(kind.inner if steps else kind):
        raise ColumnError(f"the score column {column!r} holds {kind}, not numbers: {did_you_mean(column, candidates)}")
    return steps


def _is_number(kind: Any) -> bool:
    return bool(kind.is_numeric()) or kind in (pl.Boolean, pl.Null)


def _is_score(kind: pl.DataType) -> bool:
    inner = kind.inner if isinstance(kind, pl.List | pl.Array) else kind
    return inner in (pl.Float32, pl.Float64, pl.Float16)


def _only(candidates: list[str], schema: pl.Schema) -> str:
    """The score when none is named: the only column of floats, else the only one that is called as scores are."""
    if len(candidates) == 1 and (_is_named(candidates[0]) or not NO_SCORES.search(key(candidates[0]))):
        return candidates[0]
    whole = [name for name in schema if key(name) in SCORES and _is_number(schema[name])]
    known = [name for name in candidates if _is_named(name)] or whole
    verified = [name for name in candidates if name != RECORDED and not NO_SCORES.search(key(name))]
    if len(verified) == 1 and RECORDED in candidates:
        note = f"the score is {verified[0]!r}, the verifier's; {RECORDED!r}, which every run records, is not weighed"
        warnings.warn(note, SteelyardNote, stacklevel=2)
        return verified[0]
    if len(known) == 1:
        others = [name for name in candidates if name != known[0]]
        beside = f", and none of {', '.join(others)}" if others else ""
        warnings.warn(f"the score is {known[0]!r}, by its name{beside}", SteelyardNote, stacklevel=2)
        return known[0]
    texts = [name for name, kind in schema.items() if kind == pl.String and key(name) in SCORES]
    if not candidates and not known and texts:
        raise ScoreError(
            f"the column {texts[0]!r} holds text, not numbers: write scores as numbers (0.8 for 4/5), or read with "
            f"{argument('score', NO_SCORE)} for a majority vote"
        )
    if not candidates and not known:
        raise ScoreError(
            "there is no column of scores (floats, or lists of floats): 'steelyard score' adds one, and "
            f"{argument('score', NO_SCORE)} reads without, for the majority vote"
        )
    if len(candidates) == 1:
        raise ScoreError(
            f"the only column of numbers is {candidates[0]!r}, and by its name more of it is not better: if it is a "
            f"score, read it with {argument('score', candidates[0])}, else read with {argument('score', NO_SCORE)} for "
            "a majority vote"
        )
    listed = ", ".join(candidates or known)
    raise ScoreError(f"several columns could be the score: choose one with {argument('score')}: {listed}")


def _is_named(name: str) -> bool:
    """Whether a column is called as scores are."""
    return key(name) in SCORES or SCORE_LIKE.search(key(name)) is not None


def check_columns(schema: pl.Schema) -> None:
    """Every table needs a question, and an answer or a response to read it out of; all that is missing is said."""
    missing = [] if "question" in schema else ["'question' (the id that responses to one question share)"]
    missing += [] if "answer" in schema or "response" in schema else ["'answer' (or 'response', the full text)"]
    if missing:
        check_names(schema)
        ours = "question" if "question" not in schema else "answer"
        others = [name for name in schema.names() if name not in KNOWN]
        raise ColumnError(
            f"the table has no column {' and no column '.join(missing)}: rename one "
            f"({argument('rename', {'yours': ours})}); {did_you_mean(ours, others)}"
        )


def label_expression(schema: pl.Schema) -> pl.Expr | None:
    """Return `correct` as a boolean; None if the table has no such column."""
    if "correct" in schema:
        kind = schema["correct"]
        column = pl.col("correct")
        if kind == pl.String:
            return labels_of(column)
        if kind in (pl.Boolean, pl.Null):
            return column.cast(pl.Boolean)
        if kind.is_numeric():
            return pl.when(column == 1).then(True).when(column == 0).then(False)
        raise LabelError(f"the column 'correct' holds {kind}: give true and false")
    return None
