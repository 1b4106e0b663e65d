"""The public functions that many workers can do: each is that of one process, and takes `engine=` as well.

Workers read from folders, and write into folders, that all of them share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.answers.annotated import Reading, described
from steelyard.engine.answers_parts import answers_of_parts
from steelyard.engine.engines import Engine
from steelyard.engine.evaluate_pools import evaluate_pools
from steelyard.engine.import_parts import import_parts
from steelyard.engine.parted_generate import generate_parts
from steelyard.engine.parted_score import score_parts
from steelyard.engine.vote_parts import vote_parts
from steelyard.engine.with_engine import with_engine
from steelyard.errors import SettingError
from steelyard.evaluation.evaluate import evaluate as evaluate_alone
from steelyard.jobs.generate_run import generate as generate_alone
from steelyard.jobs.progress import Progress
from steelyard.jobs.score import score as score_alone
from steelyard.jobs.score_samples import Scored
from steelyard.jobs.vote import vote as vote_alone
from steelyard.methods.base.method import Method
from steelyard.pools.pool import LabelledPool
from steelyard.runs.parts import part_tables
from steelyard.tables.answers_read import read_answers as read_answers_alone
from steelyard.tables.importing import import_table as import_table_alone


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
    of every part; they are returned in the order of the parts. The same call again goes on where it was stopped.

    >>> parts = sy.partition(sy.simulate(20, 4, seed=1), "parts", 3)
    >>> sy.vote("parts", engine="processes:2", output="verdicts").equals(sy.vote("parts"))
    True
    """
    if isinstance(plan, Method):
        raise SettingError("workers read a plan from a file: save it (.save('plan.json')), and give its path as plan")
    at = Path(plan) if plan is not None else None
    target = _output(output)
    vote_parts(_folder(table), target, engine, plan=at, workers=workers, **options)
    return _all_parts(target)


@with_engine(read_answers_alone)
def read_answers(
    source: Any, *, engine: Engine, output: str | Path | None = None, workers: int | None = None, **options: Any
) -> Reading:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) many workers read, `workers` at once.

    `source` is then a folder of `partition`, or a run in parts, and `output` a folder for the rows of every part.
    """
    target = _output(output)
    answers_of_parts(_folder(source), target, engine, workers=workers, **options)
    return described(_all_parts(target))


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
    files = source if isinstance(source, list | tuple) else [source]
    if not all(isinstance(file, str | Path) for file in files):
        raise SettingError("workers read files: write the table to one (sy.write), or leave engine= away")
    if parts is None:
        raise SettingError("an engine writes a folder of parts: say how many with parts=, as parts=64")
    target = _output(output)
    import_parts(files, target, parts, engine, workers=workers, **options)
    return _all_parts(target)


@with_engine(generate_alone)
def generate(
    questions: str | Path,
    run: str | Path,
    *,
    engine: Engine,
    parts: int | None = None,
    workers: str | int | None = None,
    fork: str | Path | None = None,
    **options: Any,
) -> Progress:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) many workers ask, `workers` at once ("2:8").

    `run` becomes a run in `parts` parts, each of which one worker fills; by default 4 per worker. Every worker asks
    for `concurrency` samples at once. `fork` and `serve` are for one process; so is `agenerate`.
    """
    if fork is not None or options.pop("serve", None) is not None:
        raise SettingError("fork= and serve= are for a run of one process: leave them, or engine=, away")
    return generate_parts(questions, run, engine=engine, parts=parts, workers=workers, **options)


@with_engine(score_alone)
def score(
    run: Any,
    verifier: str,
    *,
    engine: Engine,
    workers: str | int | None = None,
    gpus_per_worker: float | None = None,
    upstream: str | None = None,
    at: str | None = None,
    output: str | Path | None = None,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    progress: Callable[[float], None] = lambda _: None,
    **options: Any,
) -> Scored:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) many workers score, `workers` at once ("2:8").

    `run` is then a run in parts, as `generate` leaves it with an engine; on Ray every worker has `gpus_per_worker`
    GPUs of its own. `ascore` is for one process.
    """
    if output is not None or rename or layout:
        raise SettingError("output=, rename= and layout= are for tables, and an engine scores a run in parts")

    def share(stands: Progress) -> None:
        progress(min(1.0, (stands.there + stands.done + stands.failed) / max(1, stands.wanted)))

    at = at if upstream is None else upstream
    gpus = gpus_per_worker or 0
    return score_parts(
        _folder(run), verifier, engine=engine, workers=workers, gpus_per_worker=gpus, at=at, progress=share, **options
    )


@with_engine(evaluate_alone)
def evaluate(
    methods: Sequence[Method | str] | None,
    cal: LabelledPool,
    test: LabelledPool,
    *,
    engine: Engine,
    workers: int | None = None,
    **options: Any,
) -> pl.DataFrame:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) every method is measured by one worker.

    The pools travel to every worker: `steelyard evaluate --engine` lets each read the file instead.
    """
    return evaluate_pools(methods, cal, test, engine, workers=workers, **options)


def _folder(source: Any) -> Path:
    if not isinstance(source, str | Path):
        raise SettingError(
            f"workers read a folder of parts, not a {type(source).__name__}: make one with sy.partition, and name it"
        )
    return Path(source)


def _output(output: str | Path | None) -> Path:
    if output is None:
        raise SettingError("an engine writes a folder: name it with output=")
    return Path(output)


def _all_parts(folder: Path) -> pl.DataFrame:
    """The rows of all parts, one after the other."""
    return pl.concat([pl.read_parquet(path, glob=False) for path in part_tables(folder)[1]])


__test__ = {"vote": vote}  # a decorated function is not looked into otherwise
