"""Is the confidence worth anything? How it is calibrated, and how well it ranks correct verdicts above wrong ones.

ECE     mean gap between confidence and accuracy, in ten bins
Brier   mean squared distance of the confidence from what happened
AURC    mean error over all coverages: of the most confident questions first
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from steelyard.voting.confidence.calibration_error import calibration_curve
from steelyard.voting.methods import fit_or_majority, method_class
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.arrays import Bools, Floats
from steelyard.voting.pools.pool import LabelledPool

if TYPE_CHECKING:
    import polars as pl

TABLE = ("method", "ece", "brier", "aurc")


def confidence_table(methods: Sequence[Method | str], cal: LabelledPool, test: LabelledPool) -> pl.DataFrame:
    """Return ECE, Brier and AURC of every method that learns a confidence, at the full N; others have no row."""
    import polars as pl

    rows = []
    for given in methods:
        method = method_class(given)() if isinstance(given, str) else deepcopy(given)
        if not method.oracle:
            verdicts = fit_or_majority(method, cal).predict(test.unlabelled())
            if verdicts.p_correct is not None:
                rows.append({"method": method.name, **measures(verdicts.p_correct, verdicts.correct(test))})
    return pl.DataFrame(rows, TABLE)


def measures(confidence: Floats, correct: Bools) -> dict[str, float]:
    """Return the three.

    >>> {k: round(v, 3) for k, v in measures(np.array([0.9, 0.6]), np.array([True, False])).items()}
    {'ece': 0.35, 'brier': 0.185, 'aurc': 0.25}
    """
    wrong = 1.0 - correct[np.argsort(-confidence, kind="stable")]
    risk = wrong.cumsum() / np.arange(1, len(wrong) + 1)
    return {
        "ece": calibration_curve(confidence, correct).ece,
        "brier": float(((confidence - correct) ** 2).mean()),
        "aurc": float(risk.mean()),
    }
