"""Whether a verifier was asked for everything: a question about all parts, which no part can answer for the others."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import polars as pl

from steelyard.engine.engines import Engine
from steelyard.engine.failures import AGAIN, failure_summary
from steelyard.engine.parts_read import PartRead, PartsRead
from steelyard.engine.scheduler import Failed
from steelyard.foundation.errors import RunError
from steelyard.runs.on_demand import is_asked_column
from steelyard.tables.asked_scores import not_all_asked


def all_asked(read: PartsRead, engine: Engine, workers: int | None = None) -> tuple[str, ...]:
    """The columns that say what was asked, and say of every row of all parts that it was.

    One part mostly settles it, and is looked at here; the others are looked at by the engine if need be.
    """
    left = [name for name in read.columns if is_asked_column(name)]
    filled = [part for part in read.parts if part.rows]
    for part in filled[:1] if left else ():
        left = _without(left, not_asked(tuple(left), part))
    if not left or not filled[1:]:
        return tuple(left)
    with closing(engine.run(not_asked, tuple(left), filled[1:], workers=workers)) as ended:
        for each in ended:
            if isinstance(each, Failed):
                raise RunError(failure_summary([each], len(read.parts), fix=AGAIN))
            left = _without(left, each.summary)
            if not left:
                break
    return tuple(left)


def not_asked(names: tuple[str, ...], part: PartRead) -> list[str]:
    """Of some columns those that say of a row of this part that it was not asked; what a worker does."""
    with part.opened() as rows:
        frame = rows_without(rows)
        schema = frame.collect_schema()
        return not_all_asked(frame, [name for name in names if schema.get(name) == pl.Boolean])


def rows_without(rows: Path | pl.LazyFrame, columns: Sequence[str] = ()) -> pl.LazyFrame:
    """The rows of a part without some columns."""
    frame = pl.scan_parquet(rows, glob=False) if isinstance(rows, Path) else rows
    return frame.drop(columns)


def _without(names: Sequence[str], gone: Sequence[str]) -> list[str]:
    return [name for name in names if name not in gone]
