"""Scaling curves: accuracy over the number of samples, for many methods on the same subsets of the same questions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.accuracy import need_labels
from steelyard.evaluation.subset_accuracy import correct_shares
from steelyard.foundation.charts.accuracy_lines import accuracy_lines
from steelyard.foundation.charts.chart_style import check_charts
from steelyard.foundation.charts.figures import figure
from steelyard.foundation.errors import CalibrationError, SettingError, SteelyardWarning, did_you_mean, need_numbers
from steelyard.voting.fitting.score_quality import warn_of_suspicious_scores
from steelyard.voting.method_colours import colour, is_oracle
from steelyard.voting.methods import fit_or_majority, method_class, method_names
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.notebook import html_table
from steelyard.voting.pools.pool import LabelledPool, Pool

if TYPE_CHECKING:
    import altair as alt

MOST_RESAMPLES = 100_000
RECALIBRATE = ("each", "full")


@dataclass(frozen=True, eq=False, repr=False)
class Curves:
    """How often every test question is answered right, by n and method; everything else is a mean of it.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> found = sy.evaluation.curves(["majority", "logit"], cal, test, n=[2, 8], resamples=5)
    >>> found, found.accuracy.shape
    (Curves(majority, logit; n = 2, 8; 100 questions), (2, 2))
    """

    methods: tuple[str, ...]
    sizes: tuple[int, ...]  # rising
    correct: NDArray[np.float64]  # [Q, S, K], NaN where a method could not be fitted
    resample_sd: NDArray[np.float64]  # [S, K] of the accuracy over resamples, NaN where nothing was resampled
    questions: Any  # [Q] ids
    calibration_samples: int  # responses that were labelled and scored to calibrate
    attempted: NDArray[np.float64] | None = None  # [Q, K] how often it is attempted at the largest n; None: unknown

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """The mean over questions [S, K]."""
        mean: NDArray[np.float64] = self.correct.mean(axis=0)
        return mean

    @property
    def se(self) -> NDArray[np.float64]:
        """Its standard error over questions [S, K]; NaN for a single one."""
        if len(self.correct) < 2:
            return np.full_like(self.accuracy, np.nan)
        error: NDArray[np.float64] = self.correct.std(axis=0, ddof=1) / np.sqrt(len(self.correct))
        return error

    def of(self, method: str) -> NDArray[np.float64]:
        """How often each question is answered right by one method [Q, S]."""
        if method not in self.methods:
            raise SettingError(f"there is no curve of {method!r}: {did_you_mean(method, self.methods)}")
        return self.correct[:, :, self.methods.index(method)]

    def plot(self) -> alt.LayerChart:
        """Draw a line per method with its standard error as a band; oracles are dashed and may leave the frame.

        It needs `pip install 'steelyard[report]'`.
        """
        check_charts()
        rows = [
            {"method": name, "n": n, "accuracy": mean, "low": mean - error, "high": mean + error}
            for name, means, errors in zip(self.methods, self.accuracy.T, np.nan_to_num(self.se.T), strict=True)
            for n, mean, error in zip(self.sizes, means.tolist(), errors.tolist(), strict=True)
            if np.isfinite(mean)
        ]
        oracles = [name for name in self.methods if is_oracle(name)]
        colours = {name: colour(name) for name in self.methods}
        title = "accuracy (% of test questions)"
        spec = accuracy_lines(rows, colours, title=title, error="± 1 standard error:", oracles=oracles, marked=True)
        subtitle = "by samples per question, with ± 1 standard error over questions"
        return figure(spec, title=f"Accuracy on {len(self.correct):,} questions", subtitle=subtitle)

    def __repr__(self) -> str:
        return (
            f"Curves({', '.join(self.methods)}; n = {', '.join(map(str, self.sizes))}; {len(self.correct)} questions)"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows; `plot` draws it."""
        columns = zip(self.methods, self.accuracy.T, self.se.T, strict=True)
        rows = [
            (name, *(f"{100 * a:.1f} ± {100 * e:.1f}" for a, e in zip(mean, error, strict=True)))
            for name, mean, error in columns
        ]
        title = f"Accuracy in % by samples per question, ± standard error over {len(self.correct)} questions"
        return html_table(title, ("method", *self.sizes), rows)


def curves(
    methods: Sequence[Method | str] | None,
    cal: LabelledPool,
    test: LabelledPool,
    *,
    n: Sequence[int] | None = None,
    resamples: int = 200,
    seed: int = 0,
    recalibrate: str = "each",
    progress: Callable[[float], None] | None = None,
) -> Curves:
    """Measure methods, by name or as they are set up, on n samples of every test question.

    `recalibrate`: "each" fits at every n on the first n samples of the calibration questions, "full" once, at the N
    of the test questions. A question's share is the mean over `resamples` random subsets (drawn without replacement,
    nested over n, the same for all methods) or exact where that is possible; with `resamples` 0 the first n samples
    vote. Where the first n samples cannot teach a method anything its shares are NaN. Methods default to all
    that are not `only_by_name`, n to the powers of two and the full N. `progress` is called with the share of the work
    done.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> found = sy.evaluation.curves(["majority"], cal, test, resamples=5)
    >>> found.sizes
    (1, 2, 4, 8)
    """
    cal, test = need_labels(cal), need_labels(test)
    chosen = [
        method_class(m)() if isinstance(m, str) else m for m in (all_methods(cal) if methods is None else methods)
    ]
    if not chosen:
        raise SettingError(f"there is no method to evaluate: name some of {', '.join(method_names())}")
    sizes = sorted(set(n or default_sizes(test.n)))
    need_numbers(n=sizes[0], resamples=resamples)
    if sizes[0] < 1 or sizes[-1] > test.n:
        raise SettingError(f"n must lie between 1 and {test.n}, the samples of the test questions; got {sizes}")
    if not 0 <= resamples <= MOST_RESAMPLES:
        raise SettingError(
            f"resamples must lie between 0 (the first n samples) and {MOST_RESAMPLES:,}, not {resamples}"
        )
    if recalibrate not in RECALIBRATE:
        raise SettingError(f"unknown recalibrate {recalibrate!r}: {did_you_mean(recalibrate, RECALIBRATE)}")
    _warn(cal, test)
    if any(method.scored for method in chosen):
        warn_of_suspicious_scores(test)
    if recalibrate == "full":
        voters: list[list[Method | None]] = [[fit_or_majority(m, cal, test.n) for m in chosen]] * len(sizes)
    else:
        voters = _fitted(chosen, cal, sizes)
    correct, sd = correct_shares(voters, test, np.array(sizes), resamples=resamples, seed=seed, progress=progress)
    attempted = None
    if test.reports_attempts:
        largest, attempts = np.array(sizes[-1:]), test.labelled_by_attempt()
        attempted = correct_shares(voters[-1:], attempts, largest, resamples=resamples, seed=seed)[0][:, 0]
    names = _unique([method.name for method in chosen])
    samples = cal.first(test.n).n_responses
    return Curves(tuple(names), tuple(sizes), correct, sd, test.questions, samples, attempted)


def _fitted(methods: Sequence[Method], cal: LabelledPool, sizes: Sequence[int]) -> list[list[Method | None]]:
    """Fit a copy of each method at each n; None where the first n samples cannot teach it anything.

    A method that weighs sources learns from all of them: the first n samples may be of some sources only.
    The largest n comes first, as that is an error there; elsewhere each reason is said once.
    """
    left_out: dict[str, list[tuple[str, int]]] = {}
    fitted: dict[int, list[Method | None]] = {}
    for n in reversed(sizes):
        fitted[n] = []
        for i, method in enumerate(methods):
            if method.weighs_sources and n < sizes[-1]:
                fitted[n].append(fitted[sizes[-1]][i])
                continue
            try:
                fitted[n].append(fit_or_majority(method, cal, None if method.weighs_sources else n))
            except CalibrationError as error:
                if n == sizes[-1]:
                    raise
                fitted[n].append(None)
                left_out.setdefault(str(error), []).append((method.name, n))
    for why, where in left_out.items():
        names = ", ".join(dict.fromkeys(name for name, _ in where))
        at = ", ".join(str(n) for n in sorted({n for _, n in where}))
        times = f" ({len(where)} times)" if len(where) > 1 else ""
        text = f"{names} at n = {at} {'are' if times else 'is'} left out{times}: {why}"
        warnings.warn(text, SteelyardWarning, stacklevel=4)
    return [fitted[n] for n in sizes]


def _warn(cal: LabelledPool, test: LabelledPool) -> None:
    """Say what would make the figures mean something else than they seem to."""
    shared = np.isin(np.asarray(test.questions), np.asarray(cal.questions)).sum()
    if shared:
        text = f"{shared} test questions are calibration questions too: the accuracies are too good to be true"
        warnings.warn(text, SteelyardWarning, stacklevel=4)
    few = int((test.sizes < test.n).sum())
    if few:
        text = f"{few} test questions have fewer than {test.n} samples: at a larger n they vote with what they have"
        warnings.warn(text, SteelyardWarning, stacklevel=4)


def all_methods(pool: Pool, *, rare: bool = False) -> list[str]:
    """The methods of use for a pool by name: the baseline, those that learn nothing, those that do, the oracles.

    `rare`: also those that are measured only by name.
    """

    def order(name: str) -> tuple[bool, bool, bool, str]:
        return method_class(name).oracle, method_class(name).learns, name != "majority", name

    def useful(name: str) -> bool:
        kind = method_class(name)
        if kind.only_by_name and not rare:
            return False
        if pool.similarity is not None and not kind.votes_on_similar:
            return False
        if len(pool.sources) > 1:
            return pool.scores is not None or not kind.scored
        return not kind.weighs_sources

    return sorted(filter(useful, method_names()), key=order)


def default_sizes(n: int) -> list[int]:
    """Return the powers of two up to n, and n.

    >>> default_sizes(12)
    [1, 2, 4, 8, 12]
    """
    return [2**k for k in range(n.bit_length()) if 2**k < n] + [n]


def _unique(names: list[str]) -> list[str]:
    """Number repeated names.

    >>> _unique(["logit", "kde", "logit"])
    ['logit', 'kde', 'logit-2']
    """
    return [name if name not in names[:i] else f"{name}-{names[:i].count(name) + 1}" for i, name in enumerate(names)]
