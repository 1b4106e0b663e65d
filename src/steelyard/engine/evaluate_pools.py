"""Methods measured on pools in memory by many workers, each method by one: `sy.evaluate(.., engine=)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from steelyard.engine.engines import Engine
from steelyard.engine.evaluate_methods import curve_of, joined_curves
from steelyard.engine.part_warnings import ToldOnce, caught
from steelyard.engine.scheduler import Failed
from steelyard.evaluation.accuracy_curves import all_methods, curves
from steelyard.evaluation.method_tables import table_of_curves, with_baseline
from steelyard.foundation.errors import RunError
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool


@dataclass(frozen=True)
class NumberedMethod:
    """A method to measure: by its name, or as it is; two of one name may differ."""

    number: int
    method: Method | str

    @property
    def name(self) -> str:
        """How it is reported."""
        return self.method if isinstance(self.method, str) else self.method.name


@dataclass(frozen=True)
class PoolsOrder:
    """What every worker is told: the pools travel to it."""

    cal: LabelledPool
    test: LabelledPool
    options: dict[str, Any]  # n, resamples, seed, recalibrate


def evaluate_pools(
    methods: Sequence[Method | str] | None,
    cal: LabelledPool,
    test: LabelledPool,
    engine: Engine,
    *,
    n: Sequence[int] | None = None,
    resamples: int = 200,
    seed: int = 0,
    baseline: str = "majority",
    recalibrate: str = "each",
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> pl.DataFrame:
    """Return the table of `steelyard.evaluate`, bit for bit."""
    listed: list[Method | str] = list(all_methods(cal) if methods is None else methods)
    chosen = [NumberedMethod(i, each) for i, each in enumerate(with_baseline(listed, baseline))]
    order = PoolsOrder(cal, test, {"n": n, "resamples": resamples, "seed": seed, "recalibrate": recalibrate})
    found: dict[int, dict[str, Any]] = {}
    told = ToldOnce("methods")
    for each in engine.run(measure_on_pools, order, chosen, workers=workers):
        if isinstance(each, Failed):
            raise RunError(f"{each.part.name} cannot be measured: {each.reason}")
        found[each.part.number] = each.summary
        told.hear(each.part.name, each.summary["said"])
        if progress:
            progress(len(found) / len(chosen))
    told.tell()
    joined = joined_curves([found[each.number] for each in chosen], [each.name for each in chosen])
    return table_of_curves(joined, len(listed), n=n, seed=seed, baseline=baseline)


def measure_on_pools(order: PoolsOrder, method: NumberedMethod) -> dict[str, Any]:
    """Fit and measure one method; what a worker does."""
    with caught() as said:
        found = curves([method.method], order.cal, order.test, **order.options)
    return curve_of(found) | {"said": said}
