"""The public functions on tables that many workers can do: each is that of one process, and takes `engine=` as well.

Workers read from folders, and write into folders, that all of them share, or that are on an object store. What they
need is imported when it is used.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from steelyard.answers.annotated import Reading, summarize
from steelyard.engine.with_engine import with_engine
from steelyard.foundation.errors import SettingError
from steelyard.foundation.store_address import Place, place_of
from steelyard.runs.parts import part_tables
from steelyard.tables.response_rows import import_table as import_table_alone
from steelyard.tables.table_answers import read_answers as read_answers_alone
from steelyard.tables.vote import vote as vote_alone
from steelyard.voting.methods.base.method import Method

if TYPE_CHECKING:
    from steelyard.engine.engines import Engine


@with_engine(vote_alone)
def vote(
    table: Any,
    plan: str | Path | None = None,
    *,
    engine: Engine,
    output: str | Path | None = None,
    workers: int | None = None,
    **options: Any,
) -> pl.DataFrame:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) many workers decide, `workers` at once.

    `table` is then a folder of `partition`, or a run in parts, the plan a path, and `output` a folder for the verdicts
    of every part; they are returned in the order of the parts. The same call again goes on where it was stopped. Both
    folders may be on an object store, as s3://bucket/parts.

    >>> parts = sy.partition(sy.simulate(20, 4, seed=1), "parts", 3)
    >>> sy.vote("parts", engine="processes:2", output="verdicts").equals(sy.vote("parts"))
    True
    """
    from steelyard.engine.vote_parts import vote_parts

    if isinstance(plan, Method):
        raise SettingError("workers read a plan from a file: save it (.save('plan.json')), and give its path as plan")
    at = Path(plan) if plan is not None else None
    target = _output(output)
    vote_parts(folder_named(table), target, engine, plan=at, workers=workers, **options)
    return _all_parts(target)


@with_engine(read_answers_alone)
def read_answers(
    source: Any, *, engine: Engine, output: str | Path | None = None, workers: int | None = None, **options: Any
) -> Reading:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) many workers read, `workers` at once.

    `source` is then a folder of `partition`, or a run in parts, and `output` a folder for the rows of every part.
    """
    from steelyard.engine.answers_parts import answers_of_parts

    target = _output(output)
    answers_of_parts(folder_named(source), target, engine, workers=workers, **options)
    return summarize(_all_parts(target))


@with_engine(import_table_alone)
def import_table(
    source: Any,
    *,
    engine: Engine,
    output: str | Path | None = None,
    parts: int | None = None,
    workers: int | None = None,
    **options: Any,
) -> pl.DataFrame:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) many workers read files, `workers` at once.

    They write `parts` parts into the folder `output`; the rows are returned in the order of these.
    """
    from steelyard.engine.import_parts import import_parts

    files = source if isinstance(source, list | tuple) else [source]
    if not all(isinstance(file, str | Path) for file in files):
        raise SettingError("workers read files: write the table to one (sy.write), or leave engine= away")
    if parts is None:
        raise SettingError("an engine writes a folder of parts: say how many with parts=, as parts=64")
    target = _output(output)
    import_parts(files, target, parts, engine, workers=workers, **options)
    return _all_parts(target)


def folder_named(source: Any) -> Place:
    """The folder that workers read; a table in memory is none."""
    if not isinstance(source, str | Path):
        raise SettingError(
            f"workers read a folder of parts, not a {type(source).__name__}: make one with sy.partition, and name it"
        )
    return place_of(source)


def _output(output: str | Path | None) -> Place:
    if output is None:
        raise SettingError("an engine writes a folder: name it with output=")
    return place_of(output)


def _all_parts(folder: Place) -> pl.DataFrame:
    """The rows of all parts, one after the other."""
    return pl.concat([pl.read_parquet(str(path), glob=False) for path in part_tables(folder)[1]])


__test__ = {"vote": vote}  # a decorated function is not looked into otherwise
