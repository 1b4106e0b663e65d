"""Several scores read together: `prm:last+prm:min+self`, and `prm:*` for every reducer of a step column.

A column whose name is the whole text comes first, so a name with a plus in it still means that column.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from steelyard.foundation.errors import ColumnError
from steelyard.tables.columns import NO_SCORE, choose_score
from steelyard.tables.score_spelling import REDUCERS, Score, parts_of, spelled
from steelyard.voting.pools.arrays import ScoreRangeError, outside

EVERY = "*"


@dataclass(frozen=True)
class Scores:
    """What is to be read as the score: nothing, one score, or the parts of a mix in the order of their names."""

    parts: tuple[Score, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts)

    @property
    def name(self) -> str | None:
        return "+".join(self.names) or None

    def expressions(self) -> list[pl.Expr]:
        """Return one column a part; a lone score is called `score`."""
        if len(self.parts) == 1:
            return [self.parts[0].expression()]
        return [part.expression().alias(f"score {i}") for i, part in enumerate(self.parts)]


def choose_scores(schema: pl.Schema, wanted: str | None, needed: bool = True) -> Scores:
    """Resolve what the user asked for against the columns there are.

    >>> schema = pl.Schema({"prm": pl.List(pl.Float64), "self": pl.Float64})
    >>> choose_scores(schema, "self+prm:*").name
    'prm:last+prm:mean+prm:min+prm:prod+self'
    """
    words = _words(schema, wanted) if wanted else []
    if len(words) < 2:
        chosen = choose_score(schema, wanted, needed)
        return Scores((chosen,) if chosen else ())
    if "" in words:
        raise ColumnError(f"a part of {wanted!r} is empty: name a column on both sides of every +")
    if NO_SCORE in words and NO_SCORE not in schema:
        raise ColumnError(f"{NO_SCORE!r} stands beside scores in {wanted!r}: leave it out, or read with it alone")
    found = [part for word in words if (part := choose_score(schema, word))]
    names = [part.name for part in found]
    for name in names:
        if names.count(name) > 1:
            raise ColumnError(f"{name!r} stands {names.count(name)} times in {wanted!r}: name it once")
    return Scores(tuple(sorted(found, key=lambda part: part.name)))


def range_of_all(frame: pl.LazyFrame, scores: Scores) -> ScoreRangeError | None:
    """The error of the first score that runs beyond [0, 1], by all rows: a fix by some of them may not fit the rest."""
    for part in scores.parts:
        value = pl.col("score").fill_nan(None)
        ends = frame.select(part.expression()).select(value.min().alias("low"), value.max().alias("high"))
        low, high = ends.collect(engine="streaming").row(0)
        if low is not None and (low < 0 or high > 1):
            return outside(part.name, low, high, scores.name)
    return None


def same_scores(one: str, other: str) -> bool:
    """Whether two texts ask for the same scores, as far as that can be said without a table.

    >>> same_scores("self+prm", "prm:last+self"), same_scores("prm:*", "prm:last"), same_scores("prm", "prm:min")
    (True, False, False)
    """
    return _plain(one) == _plain(other)


def _plain(text: str) -> list[str]:
    words = [spelled for word in parts_of(text) for spelled in _every(word)]
    return sorted(word.removesuffix(":last") for word in words)


def _words(schema: pl.Schema, wanted: str) -> list[str]:
    """The parts of a text as single scores; just one where the text, or what it reduces, is a column."""
    whole = spelled(wanted)
    lone = wanted in schema or (whole and whole.column in schema and "+" not in (whole.reducer or ""))
    parts = [wanted] if lone else parts_of(wanted)
    return [word for part in parts for word in _spread(schema, part)]


def _spread(schema: pl.Schema, part: str) -> list[str]:
    """Every reducer of a step column, where a part asks for them."""
    words = [part] if part in schema else _every(part)
    if len(words) > 1:
        choose_score(schema, part.removesuffix(f":{EVERY}"))  # is there such a column, and does it hold numbers?
        choose_score(schema, words[0])  # and steps?
    return words


def _every(part: str) -> list[str]:
    column, sep, reducer = part.rpartition(":")
    return [f"{column}:{name}" for name in REDUCERS] if sep and reducer == EVERY else [part]
