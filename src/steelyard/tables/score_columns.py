"""The score columns of a table, and the choice of one score or several: `prm`, `prm:last+prm:min+self`, `prm:*`.

`+` combines several scores, and `prm:*` is every reducer of a step column. A column with exactly this name takes
precedence, so a name that contains a plus still means that column.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, ScoreError, SteelyardNote, SteelyardWarning, did_you_mean
from steelyard.tables.columns import KNOWN
from steelyard.tables.names import EMBEDDINGS, INVERTED, NO_SCORES, SCORE_LIKE, SCORES, key
from steelyard.tables.score_spelling import REDUCERS, Score, parse_score, split_scores
from steelyard.voting.pools.scores import ScoreRangeError, outside

EVERY = "*"
NO_SCORE = "none"
RECORDED = "self_logprob"  # recorded by every run, unlike the scores of verifiers


@dataclass(frozen=True)
class Scores:
    """The scores to read: none, one, or the parts of a mix in the order of their names."""

    parts: tuple[Score, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts)

    @property
    def name(self) -> str | None:
        return "+".join(self.names) or None

    def expressions(self) -> list[pl.Expr]:
        """Return one column per part; a single score is called `score`."""
        if len(self.parts) == 1:
            return [self.parts[0].expression()]
        return [part.expression().alias(f"score {i}") for i, part in enumerate(self.parts)]


def choose_scores(schema: pl.Schema, requested: str | None, needed: bool = True) -> Scores:
    """Resolve the requested scores against the columns of a table.

    >>> schema = pl.Schema({"prm": pl.List(pl.Float64), "self": pl.Float64})
    >>> choose_scores(schema, "self+prm:*").name
    'prm:last+prm:mean+prm:min+prm:prod+self'
    """
    names = _score_names(schema, requested) if requested else []
    if len(names) < 2:
        chosen = choose_score(schema, requested, needed)
        return Scores((chosen,) if chosen else ())
    if "" in names:
        raise ColumnError(f"a part of {requested!r} is empty: name a column on both sides of every +")
    if NO_SCORE in names and NO_SCORE not in schema:
        raise ColumnError(f"{NO_SCORE!r} is combined with scores in {requested!r}: leave it out, or use it alone")
    parts = [part for name in names if (part := choose_score(schema, name))]
    resolved = [part.name for part in parts]
    for name in resolved:
        if resolved.count(name) > 1:
            raise ColumnError(f"{name!r} appears {resolved.count(name)} times in {requested!r}: name it once")
    return Scores(tuple(sorted(parts, key=lambda part: part.name)))


def range_of_all(frame: pl.LazyFrame, scores: Scores) -> ScoreRangeError | None:
    """Return the error for the first score outside [0, 1]; its fix is based on all rows, so that it fits them all."""
    for part in scores.parts:
        value = pl.col("score").fill_nan(None)
        ends = frame.select(part.expression()).select(value.min().alias("low"), value.max().alias("high"))
        low, high = ends.collect(engine="streaming").row(0)
        if low is not None and (low < 0 or high > 1):
            return outside(part.name, low, high, scores.name)
    return None


def same_scores(one: str, other: str) -> bool:
    """Whether two texts request the same scores, as far as it can be decided without a table.

    >>> same_scores("self+prm", "prm:last+self"), same_scores("prm:*", "prm:last"), same_scores("prm", "prm:min")
    (True, False, False)
    """
    return _plain(one) == _plain(other)


def _plain(text: str) -> list[str]:
    names = [name for part in split_scores(text) for name in _every(part)]
    return sorted(name.removesuffix(":last") for name in names)


def _score_names(schema: pl.Schema, text: str) -> list[str]:
    """Split a text into single scores; it is one score if the text, or what it reduces, is a column."""
    score = parse_score(text)
    is_single = text in schema or (score and score.column in schema and "+" not in (score.reducer or ""))
    parts = [text] if is_single else split_scores(text)
    return [name for part in parts for name in _expanded(schema, part)]


def _expanded(schema: pl.Schema, part: str) -> list[str]:
    """Expand `prm:*` into every reducer of a step column."""
    names = [part] if part in schema else _every(part)
    if len(names) > 1:
        choose_score(schema, part.removesuffix(f":{EVERY}"))  # raises unless the column exists and contains numbers
        choose_score(schema, names[0])  # raises unless it contains steps
    return names


def _every(part: str) -> list[str]:
    column, sep, reducer = part.rpartition(":")
    return [f"{column}:{name}" for name in REDUCERS] if sep and reducer == EVERY else [part]


def choose_score(schema: pl.Schema, requested: str | None, needed: bool = True) -> Score | None:
    """Resolve the requested score against the columns of a table; None means no score.

    If no score is needed and none is requested, only a column called `score` is used.
    """
    if requested == NO_SCORE and NO_SCORE not in schema:
        return None
    candidates = _candidates(schema)
    if requested is None:
        has_score = "score" in schema and (_is_number(schema["score"]) or "score" in candidates)
        if not has_score and not needed:
            return None
        requested = "score" if has_score else _only(candidates, schema)
        if INVERTED.search(key(requested)):
            raise ScoreError(
                f"the score would be {requested!r}, but by its name lower is better: read it with "
                f"{argument('score', f'1-{requested}')}, or, if higher is better, with {argument('score', requested)}"
            )
    spec = (None if requested in schema else parse_score(requested)) or Score(requested, None)
    column, reducer = spec.column, spec.reducer
    if column not in schema:
        raise ColumnError(f"no score column {column!r}: {did_you_mean(column, candidates)}")
    if reducer is not None and reducer not in REDUCERS:
        raise ColumnError(f"unknown step reducer {reducer!r} in {requested!r}: {did_you_mean(reducer, REDUCERS)}")
    steps = _check_kind(column, schema[column], candidates)
    if reducer is not None and not steps:
        raise ColumnError(
            f"{column!r} contains one number per response, not a list of steps: use {argument('score', column)}"
        )
    if INVERTED.search(key(column)) and not spec.flipped:
        warnings.warn(
            f"by its name lower is better for {column!r}, but it is read as a score for which higher is better: "
            f"{argument('score', f'1-{column}')} inverts it",
            SteelyardWarning,
            stacklevel=3,
        )
    return replace(spec, reducer=(reducer or "last") if steps else None)


def more_is_better(column: str) -> str:
    """Return the score= of a column, inverted if by its name lower is better.

    >>> more_is_better("prm"), more_is_better("error_prob")
    ('prm', '1-error_prob')
    """
    return f"1-{column}" if INVERTED.search(key(column)) else column


def score_columns(schema: pl.Schema) -> tuple[str, ...]:
    """Return the columns that contain scores, by their types and names."""
    floats = _candidates(schema)
    known = [name for name, kind in schema.items() if key(name) in SCORES and _is_number(kind) and kind != pl.Null]
    likely = [name for name in floats if SCORE_LIKE.search(key(name)) or not NO_SCORES.search(key(name))]
    return tuple(dict.fromkeys([*likely, *known]))


def _check_kind(column: str, kind: Any, candidates: list[str]) -> bool:
    """Return whether a score column contains steps; refuse one that does not contain numbers."""
    if column == "*" or (column.startswith("^") and column.endswith("$")):
        raise ColumnError(f"the name {column!r} would be read as a pattern: rename the column")
    steps = isinstance(kind, pl.List) or (isinstance(kind, pl.Array) and kind.size > 0)
    if steps and _is_embedding(column, kind):
        raise ColumnError(
            f"the column {column!r} contains embeddings, not scores: compare the responses by it with "
            f"{argument('answers', f'free:cosine:{column}')}; {did_you_mean(column, candidates)}"
        )
    if not _is_number(kind.inner if steps else kind):
        raise ColumnError(
            f"the score column {column!r} contains {kind}, not numbers: {did_you_mean(column, candidates)}"
        )
    return steps


def _is_number(kind: Any) -> bool:
    return bool(kind.is_numeric()) or kind in (pl.Boolean, pl.Null)


def _candidates(schema: pl.Schema) -> list[str]:
    """Return the columns of floats, or of lists of floats, except embeddings."""
    columns = [name for name, kind in schema.items() if name not in KNOWN and _is_score(kind)]
    return [name for name in columns if not _is_embedding(name, schema[name])]


def _is_embedding(name: str, kind: Any) -> bool:
    """Whether a column contains vectors: as a run stores them, or by its name."""
    if not isinstance(kind, pl.List | pl.Array):
        return False
    return kind.inner == pl.Int16 or EMBEDDINGS.search(key(name)) is not None


def _is_score(kind: pl.DataType) -> bool:
    inner = kind.inner if isinstance(kind, pl.List | pl.Array) else kind
    return inner in (pl.Float32, pl.Float64, pl.Float16)


def _only(candidates: list[str], schema: pl.Schema) -> str:
    """Return the default score: the only column of floats, else the only one with the name of a score."""
    if len(candidates) == 1 and (_is_named(candidates[0]) or not NO_SCORES.search(key(candidates[0]))):
        return candidates[0]
    numeric = [name for name in schema if key(name) in SCORES and _is_number(schema[name])]
    known = [name for name in candidates if _is_named(name)] or numeric
    verified = [name for name in candidates if name != RECORDED and not NO_SCORES.search(key(name))]
    if len(verified) == 1 and RECORDED in candidates:
        note = f"the score is {verified[0]!r}, from the verifier; {RECORDED!r}, which every run records, is not used"
        warnings.warn(note, SteelyardNote, stacklevel=2)
        return verified[0]
    if len(known) == 1:
        others = [name for name in candidates if name != known[0]]
        rejected = f", and none of {', '.join(others)}" if others else ""
        warnings.warn(f"the score is {known[0]!r}, by its name{rejected}", SteelyardNote, stacklevel=2)
        return known[0]
    texts = [name for name, kind in schema.items() if kind == pl.String and key(name) in SCORES]
    if not candidates and not known and texts:
        raise ScoreError(
            f"the column {texts[0]!r} contains text, not numbers: write scores as numbers (0.8 for 4/5), or read with "
            f"{argument('score', NO_SCORE)} for a majority vote"
        )
    if not candidates and not known:
        raise ScoreError(
            "there is no column of scores (floats, or lists of floats): 'steelyard score' adds one, and "
            f"{argument('score', NO_SCORE)} reads without, for the majority vote"
        )
    if len(candidates) == 1:
        raise ScoreError(
            f"the only column of numbers is {candidates[0]!r}, but its name is not that of a score: if it is a "
            f"score, read it with {argument('score', candidates[0])}, else with {argument('score', NO_SCORE)} for a "
            "majority vote"
        )
    listed = ", ".join(candidates or known)
    raise ScoreError(f"several columns could be the score: choose one with {argument('score')}: {listed}")


def _is_named(name: str) -> bool:
    """Whether a column has the name of a score."""
    return key(name) in SCORES or SCORE_LIKE.search(key(name)) is not None
