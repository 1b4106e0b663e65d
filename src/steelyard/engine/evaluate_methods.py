"""Methods measured by many workers, each method by one; the figures are bit for bit those of `steelyard.evaluate`."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.engine.engines import Engine
from steelyard.engine.part_warnings import ToldOnce, caught
from steelyard.engine.scheduler import Failed, Finished
from steelyard.evaluation.accuracy_curves import Curves, curves
from steelyard.evaluation.method_tables import TABLE, confidence_table, table_of_curves, with_baseline
from steelyard.foundation.errors import RunError, SettingError, SteelyardWarning
from steelyard.runs.manifest import sha256_of
from steelyard.runs.parts import FILE, is_parted
from steelyard.tables.labelled import read_labelled
from steelyard.voting.methods import method_names
from steelyard.voting.pools.pool import LabelledPool


@dataclass(frozen=True)
class OneMethod:
    """A method to measure, by its name."""

    name: str


@dataclass(frozen=True)
class EvaluateOrder:
    """What every worker of an evaluation is told: what is read, how it is split, and what is measured."""

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
    methods = list(dict.fromkeys(methods))
    chosen = [OneMethod(str(name)) for name in with_baseline(methods)]
    found: dict[str, dict[str, Any]] = {}
    told = ToldOnce("methods")
    for each in engine.run(measure, order, chosen, workers=workers, reads=_reads(order.files)):
        if isinstance(each, Failed):
            raise RunError(f"{each.part.name} cannot be measured: {each.reason}")
        found[each.part.name] = _heard(each, told)
        if len({one["rows"] for one in found.values()}) > 1:
            raise RunError("the workers have not read the same rows: what is read has changed; run the command again")
        if progress:
            progress(len(found) / len(chosen))
    told.tell()
    joined = joined_curves([found[each.name] for each in chosen], [each.name for each in chosen])
    table = table_of_curves(joined, len(methods), n=order.n, seed=order.seed)
    return table, pl.DataFrame([row for name in methods for row in found[name]["confidence"]], TABLE)


def joined_curves(measured: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Curves:
    """The curves of methods that were measured one by one."""
    first = measured[0]
    correct = np.stack([each["correct"] for each in measured], axis=2)
    sd = np.stack([each["sd"] for each in measured], axis=1)
    return Curves(tuple(names), first["sizes"], correct, sd, None, first["calibration_samples"])


def curve_of(found: Curves) -> dict[str, Any]:
    """What a worker says of the one method that it has measured."""
    about = {"correct": found.correct[:, :, 0], "sd": found.resample_sd[:, 0], "sizes": found.sizes}
    return about | {"calibration_samples": found.calibration_samples}


def _heard(each: Finished[OneMethod], told: ToldOnce) -> dict[str, Any]:
    told.hear(each.part.name, each.summary["said"])
    summary: dict[str, Any] = each.summary
    return summary


def measure(order: EvaluateOrder, method: OneMethod) -> dict[str, Any]:
    """Fit and measure one method; what a worker does."""
    with caught() as said:
        cal, test = _split(order)
        found = curves([method.name], cal, test, n=order.n, resamples=order.resamples, seed=order.seed)
    with caught():
        confidence = confidence_table([method.name], cal, test).to_dicts()
    return curve_of(found) | {"confidence": confidence, "rows": _digest(cal) + _digest(test), "said": said}


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
    """What tells rows from others: a run or a table elsewhere may change while workers read it."""
    columns = (pool.starts, pool.answer, pool.correct, pool.scores)
    return hashlib.blake2b(b"".join(column.tobytes() for column in columns if column is not None)).digest()


def _reads(files: Sequence[str]) -> Mapping[str, str]:
    """The files that every worker must find the same; of a folder of parts what it says of itself."""
    named = [Path(file) / FILE if is_parted(Path(file)) else Path(file) for file in files]
    return {str(path.absolute()): sha256_of(path) for path in named if path.is_file()}
