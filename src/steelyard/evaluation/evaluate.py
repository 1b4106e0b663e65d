"""Accuracy of many methods over n as a table: fitted on one set of questions, measured on another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from steelyard.evaluation.accuracy import estimates
from steelyard.evaluation.accuracy_curves import Curves, all_methods, curves
from steelyard.voting.methods import method_class
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool

if TYPE_CHECKING:
    import polars as pl


def evaluate(
    methods: Sequence[Method | str] | None,
    cal: LabelledPool,
    test: LabelledPool,
    *,
    n: Sequence[int] | None = None,
    resamples: int = 200,
    seed: int = 0,
    baseline: str = "majority",
    recalibrate: str = "each",
    progress: Callable[[float], None] | None = None,
) -> pl.DataFrame:
    """Return one row per method and n: accuracy, and the gain over the baseline on the same questions.

    At each n every method is fitted on the first n samples of the calibration questions (or once, at full N:
    `recalibrate="full"`) and votes on n samples of the test questions: the mean over `resamples` random subsets of
    each question (drawn without replacement, nested over n), exact where possible, or the first n when `resamples` is
    0. `se`, `low` and `high` are over test questions, `resample_sd` over resamples; `gain` is the paired difference
    to the baseline. Where the first n samples cannot teach a method anything its row is null. Methods default to all
    there are, n to the powers of two and the full N. `progress` is called with the share of the work done.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> table = sy.evaluate(["majority", "logit"], cal, test, n=[8])
    >>> table.select("method", "n").rows()
    [('majority', 8), ('logit', 8)]
    """
    chosen: list[Method | str] = list(all_methods(cal) if methods is None else methods)
    listed = len(chosen)
    chosen = with_baseline(chosen, baseline)
    found = curves(chosen, cal, test, n=n, resamples=resamples, seed=seed, recalibrate=recalibrate, progress=progress)
    return table_of_curves(found, listed, n=n, seed=seed, baseline=baseline)


def with_baseline(methods: Sequence[Method | str], baseline: str = "majority") -> list[Method | str]:
    """Add the baseline at the end, if it is not among the methods."""
    names = [each if isinstance(each, str) else each.name for each in methods]
    if not methods or baseline in names:
        return list(methods)
    method_class(baseline)
    return [*methods, baseline]


def table_of_curves(
    found: Curves, listed: int, *, n: Sequence[int] | None = None, seed: int = 0, baseline: str = "majority"
) -> pl.DataFrame:
    """Return the rows of the first `listed` methods of some curves; the baseline is among all of them."""
    import polars as pl

    rows = []
    for size in dict.fromkeys(n or found.sizes):
        t = found.sizes.index(size)
        values = found.correct[:, t]
        gains = estimates(values - values[:, [found.methods.index(baseline)]], seed=seed)
        cells = zip(found.methods, estimates(values, seed=seed, shares=True), gains, found.resample_sd[t], strict=True)
        rows += [
            {"method": name, "n": size, "accuracy": float(a), "se": a.se, "low": a.low, "high": a.high}
            | {"resample_sd": float(sd), "gain": float(g), "gain_se": g.se, "gain_low": g.low, "gain_high": g.high}
            for name, a, g, sd in list(cells)[:listed]
        ]
    return pl.DataFrame(rows).fill_nan(None)
