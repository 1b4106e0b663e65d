"""Several scores read together: `prm:last+prm:min+self`, and `prm:*` for every reducer of a step column.

A column with exactly this name takes precedence, so a name that contains a plus still means that column.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from steelyard.foundation.errors import ColumnError
from steelyard.tables.columns import NO_SCORE, choose_score
from steelyard.tables.score_spelling import REDUCERS, Score, parse_score, split_scores
from steelyard.voting.pools.arrays import ScoreRangeError, outside

EVERY = "*"


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
