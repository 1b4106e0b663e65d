"""Scaling curves of all pairs, measured once for the figure and for the compute that is saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from steelyard.evaluation.accuracy_curves import Curves, curves, default_sizes
from steelyard.evaluation.matching_compute import fine_sizes
from steelyard.evaluation.paper.measuring import quiet, splits
from steelyard.evaluation.paper.pair_grid import Grid, Pair
from steelyard.evaluation.paper.settings import Settings

QUICK = ("pass-at-n", "best-of-n", "majority", "vanilla", "linear", "logit")  # added up or exact
SLOW = ("optimal", "optimal-crossfit", "kde", "calibrated")  # vote again on every subset


@dataclass(frozen=True)
class Measured:
    """The curves of a pair: `fine` for what is quick, `coarse` for what is slow, `noise` on shuffled scores."""

    pair: Pair
    fine: Curves
    coarse: Curves
    noise: Curves


def all_curves(grid: Grid, settings: Settings) -> list[Measured]:
    """Curves of every pair, on the first calibration set."""
    made = grid.shared(
        ("curves", settings), lambda: grid.collect(settings, grid.prm, lambda p: [_measured(p, settings)])
    )
    return cast(list[Measured], made)


def _measured(pair: Pair, settings: Settings) -> Measured:
    cal, test = splits(pair.pool, settings)[0]
    sizes = fine_sizes(test.n)
    with quiet():
        fine = curves(QUICK, cal, test, n=sizes, resamples=settings.resamples, seed=settings.seed)
        coarse = curves(SLOW, cal, test, n=default_sizes(test.n), resamples=settings.again, seed=settings.seed)
        shuffled = test.with_shuffled_scores(settings.seed)
        noise = curves(
            ["optimal"], cal, shuffled, n=default_sizes(test.n), resamples=settings.again, seed=settings.seed
        )
    return Measured(pair, fine, coarse, noise)
