"""Which computed score is requested, and from which column: `length(tokens)`, or `length` alone."""

from __future__ import annotations

import warnings
from dataclasses import replace

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, SteelyardNote, did_you_mean
from steelyard.tables.computed import COMPUTED
from steelyard.tables.score_spelling import Score, split_scores


def computed_score(spec: Score, requested: str, schema: pl.Schema) -> Score | None:
    """Resolve a computed score to its column; None if the request means a column of the table.

    >>> schema = pl.Schema({"response": pl.String, "tokens": pl.Int64})
    >>> computed_score(Score("length", None), "length", schema).name
    'length(tokens)'
    """
    if requested in schema:
        _note_column(requested, schema)
        return None
    if spec.computed is not None:
        return _named(spec, schema)
    score = COMPUTED.get(spec.column)
    if score is None or spec.column in schema or spec.reducer or spec.function or spec.span:
        return None
    column = score.column_in(schema)
    if column is None:
        raise ColumnError(f"there is nothing to compute the score {score.name!r} from: {score.missing}")
    return replace(spec, column=column, function=score.name)


def _named(spec: Score, schema: pl.Schema) -> Score:
    """Check a computed score whose column is named."""
    name, column = spec.function, spec.column
    if spec.reducer:
        raise ColumnError(f"{name!r} is one number per response: leave out ':{spec.reducer}'")
    if column not in schema:
        raise ColumnError(f"no column {column!r} to compute {name!r} from: {did_you_mean(column, schema.names())}")
    if not COMPUTED[name].accepts(schema[column]):
        raise ColumnError(
            f"the column {column!r} contains {schema[column]}, but {name!r} is computed from {COMPUTED[name].reads}: "
            "name another column"
        )
    return spec


def _note_column(name: str, schema: pl.Schema) -> None:
    """Note that a column with the name of a computed score is read instead; integers are no scores and are refused."""
    if name in COMPUTED and schema[name].is_float():
        warnings.warn(
            f"the score is the column {name!r} as it is; {argument('score', f'{name}({name})')} computes the score "
            f"{name!r} from it",
            SteelyardNote,
            stacklevel=4,
        )


def empty_token_counts(frame: pl.LazyFrame, requested: str | None) -> list[str]:
    """Return the columns of token counts without any value, if `length` is requested: a run has them even then."""
    names = {name.removeprefix("1-") for name in split_scores(requested or "")}
    schema = frame.collect_schema()
    counted = [name for name in COMPUTED["length"].columns if name in schema and schema[name].is_numeric()]
    if not counted or "length" not in names or "length" in schema:
        return []
    counts = frame.select(pl.col(name).count() for name in counted).collect(engine="streaming")
    return [name for name in counted if not counts[name][0]]
