"""Which columns mean what: names, the choice of a score, step reducers, labels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import polars as pl

from steelyard.errors import ColumnError, LabelError, ScoreError, did_you_mean

KNOWN = {"question", "sample", "response", "answer", "correct", "gold", "prompt", "domain", "llm", "tokens"}
NO_SCORE = "none"
SPELLING = re.compile(r"(?P<s>sigmoid\()?(?P<column>.+?)(?(s)\))(:(?P<reducer>[^:]*))?", re.DOTALL)
REDUCERS = {
    "last": lambda steps: steps.list.drop_nulls().list.last(),
    "min": lambda steps: steps.list.min(),
    "mean": lambda steps: steps.list.mean(),
    "prod": lambda steps: steps.list.eval(pl.element().product()).list.first(),
}


@dataclass(frozen=True)
class Score:
    """A score as the user names it: `prm`, `prm:min`, `sigmoid(prm)`, `sigmoid(prm):min`."""

    column: str
    reducer: str | None
    sigmoid: bool

    @property
    def name(self) -> str:
        inner = f"sigmoid({self.column})" if self.sigmoid else self.column
        return f"{inner}:{self.reducer}" if self.reducer else inner

    def expression(self) -> pl.Expr:
        """Return one float a response; null where the verifier said nothing."""
        column = pl.col(self.column)
        if self.reducer is None:
            value = column.cast(pl.Float64) if not self.sigmoid else _sigmoid(column.cast(pl.Float64))
            return value.alias("score")
        steps = column.cast(pl.List(pl.Float64)).list.eval(pl.element().fill_nan(None))
        if self.sigmoid:
            steps = steps.list.eval(_sigmoid(pl.element()))
        some = steps.list.drop_nulls().list.len() > 0
        return pl.when(some).then(REDUCERS[self.reducer](steps)).alias("score")


def _sigmoid(value: pl.Expr) -> pl.Expr:
    return 1.0 / (1.0 + (-value).exp())


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
        wanted = "score" if named else _only(candidates)
    parts = None if wanted in schema else SPELLING.fullmatch(wanted)
    column, reducer, sigmoid = wanted, None, False
    if parts:
        column, reducer, sigmoid = parts["column"], parts["reducer"], parts["s"] is not None
    if column not in schema:
        raise ColumnError(f"no score column {column!r}: {did_you_mean(column, candidates)}")
    if reducer is not None and reducer not in REDUCERS:
        raise ColumnError(f"unknown step reducer {reducer!r} in {wanted!r}: {did_you_mean(reducer, REDUCERS)}")
    steps = _check_kind(column, schema[column], candidates)
    if reducer is not None and not steps:
        raise ColumnError(f"{column!r} holds one number a response, not a list of steps: use score={column!r}")
    return Score(column, (reducer or "last") if steps else None, sigmoid)


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


def _only(candidates: list[str]) -> str:
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        raise ScoreError(
            "there is no column of scores (floats, or lists of floats): add one ('steelyard score' does so for a run), "
            f"or read with score='{NO_SCORE}' for a majority vote"
        )
    raise ScoreError(f"several columns could be the score: choose one with score=: {', '.join(candidates)}")


def check_columns(schema: pl.Schema) -> None:
    """Every table needs a question, and an answer or a response to read it out of."""
    for name, fix in (
        ("question", "the id that responses to one question share"),
        ("answer", "or 'response', the full text"),
    ):
        if name not in schema and not (name == "answer" and "response" in schema):
            near = did_you_mean(name, schema.names())
            raise ColumnError(
                f"the table has no column {name!r} ({fix}): rename one (rename={{'yours': '{name}'}}); {near}"
            )


def label_expression(schema: pl.Schema) -> pl.Expr | None:
    """Return `correct` as a boolean; None if the table has no such column."""
    if "correct" in schema:
        kind = schema["correct"]
        column = pl.col("correct")
        if kind == pl.String:
            words = column.str.strip_chars().str.to_lowercase()
            return words.replace_strict(
                {"true": True, "false": False, "1": True, "0": False}, default=None, return_dtype=pl.Boolean
            )
        if kind in (pl.Boolean, pl.Null):
            return column.cast(pl.Boolean)
        if kind.is_numeric():
            return pl.when(column == 1).then(True).when(column == 0).then(False)
        raise LabelError(f"the column 'correct' holds {kind}: give true and false")
    return None
