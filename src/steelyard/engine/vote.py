"""`sy.vote`: the vote on a table, by this process or by many workers (vote_parts.py, which is loaded only then)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from steelyard.engine.with_engine import all_rows, folder_named, output_folder, with_engine
from steelyard.foundation.errors import SettingError
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
    if isinstance(plan, Method):
        raise SettingError("workers read a plan from a file: save it (.save('plan.json')), and give its path as plan")
    from steelyard.engine.vote_parts import vote_parts

    at = Path(plan) if plan is not None else None
    target = output_folder(output)
    vote_parts(folder_named(table), target, engine, plan=at, workers=workers, **options)
    return all_rows(target)


__test__ = {"vote": vote}  # a decorated function is not looked into otherwise
