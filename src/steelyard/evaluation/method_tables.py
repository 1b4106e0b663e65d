"""Tables of methods, fitted on one set of questions and measured on another.

They show the accuracy over n, how good the confidence is, and what calibration changes against the majority vote.

ECE     mean gap between confidence and accuracy, in ten bins
Brier   mean squared difference between confidence and outcome
AURC    mean error over all coverages, most confident questions first
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.evaluation.accuracy import Paired, as_columns, estimates
from steelyard.evaluation.accuracy_curves import Curves, all_methods, curves
from steelyard.voting.confidence.calibration_error import calibration_curve
from steelyard.voting.methods import fit_or_majority, method_class
from steelyard.voting.methods.base.assessable import Assessable
from steelyard.voting.methods.base.guarded import out_of_fold
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.arrays import Bools, Floats
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.pools.verdicts import Verdicts

if TYPE_CHECKING:
    import polars as pl

    from steelyard.evaluation.evaluation_table import EvaluationTable

TABLE = ("method", "ece", "brier", "aurc")


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
) -> EvaluationTable:
    """Return one row per method and n: accuracy, and the gain over the baseline on the same questions.

    At each n every method is fitted on the first n samples of the calibration questions (or once, at full N:
    `recalibrate="full"`) and votes on n samples of the test questions: the mean over `resamples` random subsets of
    each question (drawn without replacement, nested over n), exact where possible, or the first n when `resamples` is
    0. `se`, `low` and `high` are over test questions, `resample_sd` over resamples; `gain` is the paired difference
    to the baseline. Where the first n samples cannot teach a method anything its row is null. Methods default to all
    that are not `only_by_name`, n to the powers of two and the full N. `progress` is called with the share of the work
    done.

    If responses are graded "not attempted", or free text declines to answer, rows of the largest n also have
    `incorrect`, `not_attempted` and `accuracy_attempted`, the accuracy among the attempted verdicts.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> table = sy.evaluate(["majority", "logit"], cal, test, n=[8])
    >>> table.select("method", "n").rows()
    [('majority', 8), ('logit', 8)]
    """
    chosen: list[Method | str] = list(all_methods(cal) if methods is None else methods)
    listed = len(chosen)
    chosen = with_baseline(chosen, baseline)
    result = curves(chosen, cal, test, n=n, resamples=resamples, seed=seed, recalibrate=recalibrate, progress=progress)
    return table_of_curves(result, listed, n=n, seed=seed, baseline=baseline)


def with_baseline(methods: Sequence[Method | str], baseline: str = "majority") -> list[Method | str]:
    """Add the baseline at the end, if it is not among the methods."""
    names = [method if isinstance(method, str) else method.name for method in methods]
    if not methods or baseline in names:
        return list(methods)
    method_class(baseline)
    return [*methods, baseline]


def table_of_curves(
    result: Curves, listed: int, *, n: Sequence[int] | None = None, seed: int = 0, baseline: str = "majority"
) -> EvaluationTable:
    """Return the rows of the first `listed` methods of some curves; the baseline is among all of them."""
    import polars as pl

    from steelyard.evaluation.evaluation_table import EvaluationTable

    rows = []
    for size in dict.fromkeys(n or result.sizes):
        t = result.sizes.index(size)
        values = result.correct[:, t]
        gains = estimates(values - values[:, [result.methods.index(baseline)]], seed=seed)
        cells = zip(
            result.methods, estimates(values, seed=seed, shares=True), gains, result.resample_sd[t], strict=True
        )
        outcomes = _outcomes(result, size, listed)
        rows += [
            {"method": name, "n": size, **as_columns(a, "accuracy", ""), "resample_sd": float(sd)}
            | as_columns(g, "gain")
            | outcome
            for (name, a, g, sd), outcome in zip(list(cells)[:listed], outcomes, strict=True)
        ]
    table = EvaluationTable(pl.DataFrame(rows).fill_nan(None))
    table.baseline = baseline
    return table


def _outcomes(result: Curves, size: int, listed: int) -> list[dict[str, float]]:
    """Return the shares of incorrect and not attempted verdicts of each method, NaN below the largest n."""
    if result.attempted is None:
        return [{}] * listed
    accuracy, attempted = result.accuracy[-1], result.attempted.mean(axis=0)
    if size != result.sizes[-1]:
        attempted = np.full_like(attempted, np.nan)
    among = np.divide(accuracy, attempted, out=np.full_like(attempted, np.nan), where=attempted > 0)
    names = ("incorrect", "not_attempted", "accuracy_attempted")
    columns = zip((attempted - accuracy).tolist(), (1 - attempted).tolist(), among.tolist(), strict=True)
    return [dict(zip(names, values, strict=True)) for values in columns][:listed]


def confidence_table(methods: Sequence[Method | str], cal: LabelledPool, test: LabelledPool) -> pl.DataFrame:
    """Return ECE, Brier and AURC of every method that learns a confidence, at the full N; others have no row."""
    import polars as pl

    rows = []
    for choice in methods:
        method = method_class(choice)() if isinstance(choice, str) else deepcopy(choice)
        if not method.oracle:
            verdicts = fit_or_majority(method, cal).predict(test.unlabelled())
            if verdicts.p_correct is not None:
                rows.append({"method": method.name, **measures(verdicts.p_correct, verdicts.correct(test))})
    return pl.DataFrame(rows, TABLE)


def measures(confidence: Floats, correct: Bools) -> dict[str, float]:
    """Return ECE, Brier score and AURC.

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


def plan_changes(vote: Method, plan: Verdicts, majority: Verdicts) -> str:
    """Describe what a method learned, and how many of these verdicts differ from those of the majority vote."""
    learned = vote.described() if isinstance(vote, Assessable) else "the weights were learned"
    changed = int(plan.differ(majority).sum())
    verdicts = "verdict" if changed == 1 else "verdicts"
    changes = f"it changes {changed:,} {verdicts} of the majority vote"
    return f"{vote.name}: {learned}. On these {len(plan):,} questions {changes}."


@dataclass(frozen=True)
class LearningPoint:
    """The gain of a method fitted on `questions` labelled questions, measured on others."""

    questions: int
    gain: float
    se: float
    over: str


def learning_curve(method: Method, pool: LabelledPool, *, over: str = "majority", seed: int = 0) -> list[LearningPoint]:
    """Return the gain at rising sizes: an eighth, a quarter, a half and four fifths of the questions.

    Each question is decided by a fit on as many others, including those that the method reserves; the gain is paired
    with the majority vote on the same questions. Sizes too small to learn from are left out.
    """
    points = []
    base = method_class(over)().predict(pool.unlabelled()).correct(pool).astype(np.float64)
    for folds, fitted_on_one in ((8, True), (4, True), (2, True), (5, False)):
        correct = out_of_fold(method, pool, folds, fitted_on_one=fitted_on_one, seed=seed)
        if correct is not None:
            size = round(pool.n_questions * (1 / folds if fitted_on_one else 1 - 1 / folds))
            gain = correct - base
            points.append(LearningPoint(size, *Paired.of(gain), over))
    return points
