"""The public `evaluate`, which many workers can do: it is that of one process, and takes `engine=` as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from steelyard.engine.with_engine import with_engine
from steelyard.evaluation.method_tables import evaluate as evaluate_alone
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool

if TYPE_CHECKING:
    import polars as pl

    from steelyard.engine.engines import Engine


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
    from steelyard.engine.evaluate_pools import evaluate_pools

    return evaluate_pools(methods, cal, test, engine, workers=workers, **options)
