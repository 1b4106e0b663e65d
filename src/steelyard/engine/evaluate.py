"""`sy.evaluate`: how good methods are, measured by this process or by many workers, one worker per method.

The figures are bit for bit those of one process. Workers get the pools (`sy.evaluate`), or read the files themselves
(`steelyard evaluate --engine`).
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from steelyard.engine.engines import Engine
from steelyard.engine.scheduler import Failed
from steelyard.engine.with_engine import with_engine
from steelyard.engine.worker_messages import WarningSummary, captured_warnings
from steelyard.evaluation.accuracy_curves import Curves, all_methods, curves
from steelyard.evaluation.evaluation_table import EvaluationTable
from steelyard.evaluation.method_tables import TABLE, confidence_table, table_of_curves, with_baseline
from steelyard.evaluation.method_tables import evaluate as evaluate_alone
from steelyard.foundation.errors import RunError, SettingError, SteelyardWarning
from steelyard.runs.manifest import sha256_of
from steelyard.runs.parts import FILE, is_parted
from steelyard.tables.labelled import read_labelled
from steelyard.voting.methods import method_names
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool


@dataclass(frozen=True)
class NumberedMethod:
    """A method to measure, as a name or an object; two methods of one name may differ."""

    number: int
    method: Method | str

    @property
    def name(self) -> str:
        """How it is reported."""
        return self.method if isinstance(self.method, str) else self.method.name


@dataclass(frozen=True)
class PoolsOrder:
    """What every worker gets: the pools are sent to it."""

    cal: LabelledPool
    test: LabelledPool
    options: dict[str, Any]  # n, resamples, seed, recalibrate


@with_engine(evaluate_alone)
def evaluate(
    methods: Sequence[Method | str] | None,
    cal: LabelledPool,
    test: LabelledPool,
    *,
    engine: Engine,
    n: Sequence[int] | None = None,
    resamples: int = 200,
    seed: int = 0,
    baseline: str = "majority",
    recalibrate: str = "each",
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> EvaluationTable:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) every method is measured by one worker.

    The pools are sent to every worker; with `steelyard evaluate --engine` each worker reads the file instead.
    """
    listed: list[Method | str] = list(all_methods(cal) if methods is None else methods)
    order = PoolsOrder(cal, test, {"n": n, "resamples": resamples, "seed": seed, "recalibrate": recalibrate})
    measured = _measure_all(engine, measure_on_pools, order, with_baseline(listed, baseline), workers, progress)
    return table_of_curves(measured.curves, len(listed), n=n, seed=seed, baseline=baseline)


def measure_on_pools(order: PoolsOrder, method: NumberedMethod) -> dict[str, Any]:
    """Fit and measure one method, in a worker."""
    with captured_warnings() as messages:
        measured = curves([method.method], order.cal, order.test, **order.options)
    return {"curves": replace(measured, questions=None), "warnings": messages}


@dataclass(frozen=True)
class EvaluateOrder:
    """What every worker of an evaluation gets: what to read, how to split it, and what to measure."""

    files: tuple[str, ...]
    reading: tuple[tuple[str, Any], ...]  # score, source, rename (as pairs), layout, answers, need_score
    calibrate: float
    shuffle_scores: bool
    n: tuple[int, ...] | None
    resamples: int
    seed: int


def evaluate_methods(
    methods: Sequence[str],
    order: EvaluateOrder,
    engine: Engine,
    *,
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the table of `steelyard.evaluate`, and how good the confidence of every method is."""
    if not methods:
        raise SettingError(f"there is no method to evaluate: name some of {', '.join(method_names())}")
    methods = list(dict.fromkeys(map(str, methods)))
    measured = _measure_all(engine, measure, order, with_baseline(methods), workers, progress, _reads(order.files))
    table = table_of_curves(measured.curves, len(methods), n=order.n, seed=order.seed)
    rows = [row for summary in measured.summaries[: len(methods)] for row in summary["confidence"]]
    return table, pl.DataFrame(rows, TABLE)


def measure(order: EvaluateOrder, method: NumberedMethod) -> dict[str, Any]:
    """Fit and measure one method, in a worker."""
    with captured_warnings() as messages:
        cal, test = _split(order)
        measured = curves([method.name], cal, test, n=order.n, resamples=order.resamples, seed=order.seed)
    with captured_warnings():
        confidence = confidence_table([method.name], cal, test).to_dicts()
    rows = _digest(cal) + _digest(test)
    return {"curves": replace(measured, questions=None), "confidence": confidence, "rows": rows, "warnings": messages}


class Measured(NamedTuple):
    """The results of the workers in the order of the methods, and the curves of all methods."""

    summaries: list[dict[str, Any]]
    curves: Curves


def _measure_all(
    engine: Engine,
    task: Callable[[Any, NumberedMethod], dict[str, Any]],
    order: Any,
    methods: Sequence[Method | str],
    workers: int | None,
    progress: Callable[[float], None] | None,
    reads: Mapping[str, str] | None = None,
) -> Measured:
    """Have each method measured by one worker."""
    chosen = [NumberedMethod(i, method) for i, method in enumerate(methods)]
    measured: dict[int, dict[str, Any]] = {}
    notices = WarningSummary("methods")
    for result in engine.run(task, order, chosen, workers=workers, reads=reads):
        if isinstance(result, Failed):
            raise RunError(f"{result.part.name} cannot be measured: {result.reason}")
        measured[result.part.number] = result.summary
        notices.add(result.part.name, result.summary["warnings"])
        if len({summary.get("rows") for summary in measured.values()}) > 1:
            raise RunError("the workers have not read the same rows: the input has changed; run the command again")
        if progress:
            progress(len(measured) / len(chosen))
    notices.warn()
    summaries = [measured[method.number] for method in chosen]
    single: list[Curves] = [summary["curves"] for summary in summaries]
    correct = np.concatenate([one.correct for one in single], axis=2)
    sd = np.concatenate([one.resample_sd for one in single], axis=1)
    names = tuple(method.name for method in chosen)
    attempts = [one.attempted for one in single if one.attempted is not None]
    attempted = np.concatenate(attempts, axis=1) if len(attempts) == len(single) else None
    samples = single[0].calibration_samples
    return Measured(summaries, Curves(names, single[0].sizes, correct, sd, None, samples, attempted))


@lru_cache(maxsize=1)
def _split(order: EvaluateOrder) -> tuple[LabelledPool, LabelledPool]:
    """The questions to calibrate on and those to test on; a worker reads them once."""
    options = dict(order.reading)
    options["rename"] = dict(options["rename"])
    files = [Path(file) for file in order.files]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteelyardWarning)  # the command has read the same rows, and reported them
        pool = read_labelled(files[0] if len(files) == 1 else files, **options)
    cal, test = pool.split(order.calibrate, seed=order.seed)
    return cal, test.with_shuffled_scores(order.seed) if order.shuffle_scores else test


def _digest(pool: LabelledPool) -> bytes:
    """A digest of the rows: a run or a remote table may change while workers read it."""
    columns = (pool.starts, pool.answer, pool.correct, pool.scores)
    return hashlib.blake2b(b"".join(column.tobytes() for column in columns if column is not None)).digest()


def _reads(files: Sequence[str]) -> Mapping[str, str]:
    """The files that must be the same for every worker; of a folder of parts, its parts.json."""
    paths = [Path(file) / FILE if is_parted(Path(file)) else Path(file) for file in files]
    return {str(path.absolute()): sha256_of(path) for path in paths if path.is_file()}
