"""Accuracy of many methods over N: fitted on one set of questions, measured on another."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import CalibrationError, SettingError, SteelyardWarning
from steelyard.evaluation.accuracy import estimates, need_labels
from steelyard.methods import method_class, method_names
from steelyard.methods._base import Method
from steelyard.pool import LabelledPool

if TYPE_CHECKING:
    import polars as pl

AT_ONCE = 1_000_000  # responses held while resampling
MOST_RESAMPLES = 100_000


def evaluate(
    methods: Sequence[Method | str] | None,
    cal: LabelledPool,
    test: LabelledPool,
    *,
    n: Sequence[int] | None = None,
    resamples: int = 200,
    seed: int = 0,
    baseline: str = "majority",
    progress: Callable[[float], None] | None = None,
) -> pl.DataFrame:
    """Return one row a method and n: accuracy, and the gain over the baseline on the same questions.

    At each n every method is fitted on the first n samples of the calibration questions and votes
    on n samples of the test questions: the mean over `resamples` random subsets of each question
    (drawn without replacement, nested over n), or the first n when `resamples` is 0. `se`, `low`
    and `high` are over test questions; `gain` is the paired difference to the baseline. Where the
    first n samples cannot teach a method anything its row is null. Methods default to all there
    are, n to the powers of two and the full N. `progress` is called with the share of the work done.
    """
    import polars as pl

    cal, test = need_labels(cal), need_labels(test)
    chosen = [method_class(m)() if isinstance(m, str) else m for m in (_all_methods() if methods is None else methods)]
    if not chosen:
        raise SettingError(f"there is no method to evaluate: name some of {', '.join(method_names())}")
    names = [method.name() for method in chosen]
    if baseline not in names:
        chosen, names = [*chosen, method_class(baseline)()], [*names, baseline]
    sizes = list(n) if n else default_sizes(test.n)
    if min(sizes) < 1 or max(sizes) > test.n:
        raise SettingError(f"n must lie between 1 and {test.n}, the samples of the test questions; got {sizes}")
    if not 0 <= resamples <= MOST_RESAMPLES:
        raise SettingError(
            f"resamples must lie between 0 (the first n samples) and {MOST_RESAMPLES:,}, not {resamples}"
        )
    _warn(cal, test)
    voters = {size: [_fitted(m, cal, size, max(sizes)) for m in chosen] for size in dict.fromkeys(sizes)}
    right = _right(voters, test, resamples, seed, progress)
    rows = []
    for size, values in right.items():
        gains = values - values[:, [names.index(baseline)]]
        accuracies = estimates(values, seed=seed, shares=True)
        cells = zip(_unique(names), accuracies, estimates(gains, seed=seed), strict=True)
        rows += [
            {"method": name, "n": size, "accuracy": float(a), "se": a.se, "low": a.low, "high": a.high}
            | {"gain": float(g), "gain_se": g.se, "gain_low": g.low, "gain_high": g.high}
            for name, a, g in list(cells)[: None if methods is None else len(methods)]
        ]
    return pl.DataFrame(rows).fill_nan(None)


def _fitted(method: Method, cal: LabelledPool, n: int, largest: int) -> Method | None:
    """Fit a copy at n; None, with a warning, where the first n samples cannot teach it anything."""
    try:
        return deepcopy(method).fit(cal, n=n)
    except CalibrationError as error:
        if n == largest:
            raise
        warnings.warn(f"{method.name()} at n = {n} is left out: {error}", SteelyardWarning, stacklevel=3)
        return None


def _warn(cal: LabelledPool, test: LabelledPool) -> None:
    """Say what would make the figures mean something else than they seem to."""
    shared = np.isin(np.asarray(test.questions), np.asarray(cal.questions)).sum()
    if shared:
        text = f"{shared} test questions are calibration questions too: the accuracies are too good to be true"
        warnings.warn(text, SteelyardWarning, stacklevel=3)
    few = int((test.sizes < test.n).sum())
    if few:
        text = f"{few} test questions have fewer than {test.n} samples: at a larger n they vote with what they have"
        warnings.warn(text, SteelyardWarning, stacklevel=3)


def _all_methods() -> list[str]:
    """Every method by name: the baseline, those that learn nothing, those that do, the oracles."""

    def order(name: str) -> tuple[bool, bool, bool, str]:
        return method_class(name).oracle, method_class(name).learns, name != "majority", name

    return sorted(method_names(), key=order)


def default_sizes(n: int) -> list[int]:
    """Return the powers of two up to n, and n.

    >>> default_sizes(12)
    [1, 2, 4, 8, 12]
    """
    return [2**k for k in range(n.bit_length()) if 2**k < n] + [n]


def _right(
    voters: dict[int, list[Method | None]],
    test: LabelledPool,
    resamples: int,
    seed: int,
    progress: Callable[[float], None] | None,
) -> dict[int, NDArray[np.float64]]:
    """Return, for each n, how often each test question is answered right by each voter [Q, K]."""
    right = {size: np.zeros((test.n_questions, len(methods))) for size, methods in voters.items()}
    draws = dict.fromkeys(voters, 0)
    sampled = [size for size in voters if resamples and size < test.n]
    whole = [size for size in voters if size not in sampled]
    for pool, sizes, done in _batches(test, whole, sampled, resamples, seed):
        for size in sizes:
            subset = pool.first(size)
            for k, method in enumerate(voters[size]):
                if method is None:
                    right[size][:, k] = np.nan
                    continue
                verdicts = method.predict(subset if method.oracle else subset.unlabelled())
                right[size][:, k] += verdicts.right(subset).reshape(-1, test.n_questions).sum(axis=0)
            draws[size] += subset.n_questions // test.n_questions
        if progress:
            progress(done)
    return {size: right[size] / draws[size] for size in voters}


def _batches(
    test: LabelledPool, whole: list[int], sampled: list[int], resamples: int, seed: int
) -> Iterator[tuple[LabelledPool, list[int], float]]:
    """Yield pools, the sizes to measure on each, and the share of the work that is then done."""
    yield test, whole, 0.0 if sampled else 1.0
    rng = np.random.default_rng(seed)
    batch = max(1, AT_ONCE // test.n_responses)
    for begin in range(0, resamples if sampled else 0, batch):
        copies = min(batch, resamples - begin)
        yield test.shuffled(copies, rng), sampled, (begin + copies) / resamples


def _unique(names: list[str]) -> list[str]:
    """Number repeated names.

    >>> _unique(["logit", "kde", "logit"])
    ['logit', 'kde', 'logit-2']
    """
    return [name if name not in names[:i] else f"{name}-{names[:i].count(name) + 1}" for i, name in enumerate(names)]
