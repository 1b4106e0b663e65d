"""A leaderboard: every method on many sets of responses, by the number of labels and of samples.

For each set and each number of labels L the questions are split at random several times: L calibrate, the rest test.
Methods are fitted at every n on the calibration questions and vote on random subsets of n samples of the test
questions, all on the same subsets. Without labels only methods that learn nothing take part.

In a set of several sources n counts sources: committees of n are drawn at random, and methods are fitted on and vote on
the responses of each committee, the same sources for every question.

    gain    accuracy minus that of the majority vote, the mean over sets
    se      its standard error: a question of several sets is one observation of all of them
    rank    the mean over sets of the rank by accuracy; equal methods share a rank
    p       of the difference to the default, two-sided, corrected by Holm for the number of methods
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.evaluation.accuracy_curves import all_methods, curves
from steelyard.evaluation.matching_compute import first_reached
from steelyard.evaluation.set_results import BASELINE, SetResult, Shares, common_methods, mean_accuracy, summaries
from steelyard.evaluation.subset_accuracy import correct_shares
from steelyard.foundation.errors import SettingError, SteelyardWarning
from steelyard.sampling.ask.prepare import unplanned
from steelyard.tables.vote import OF_SOURCES
from steelyard.voting.methods import default_method, fit_or_majority, method_class
from steelyard.voting.methods.base.calibration_checks import FEWEST_QUESTIONS
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool

if TYPE_CHECKING:
    import polars as pl

LABELS = (0, 50, 200)
SAMPLES = (4, 16, 64)
SPLITS = 2
RESAMPLES = 4  # random subsets of a test question in each split
COMMITTEES = 8  # random committees of n sources in each split
FEWEST = 20  # test questions
MOST = 400  # test questions in each split


@dataclass(frozen=True, eq=False)
class ResponseSet:
    """One set of labelled responses. Sets whose questions have the same ids are taken to share them.

    >>> import steelyard as sy
    >>> ResponseSet("gpt/prm", sy.read_labelled(sy.simulate(20, 4))).pool.n
    4
    """

    name: str
    pool: LabelledPool


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The results of every set, and their summary.

    >>> import steelyard as sy
    >>> pool = sy.read_labelled(sy.simulate(60, 4))
    >>> board = leaderboard([ResponseSet("simulated", pool)], labels=[0], n=[4], methods=["vanilla"])
    >>> board.samples_to_match["method"].to_list()
    ['majority', 'vanilla']
    """

    results: list[SetResult]
    seconds: dict[str, float]  # CPU time of a vote per response, by method

    @property
    def table(self) -> pl.DataFrame:
        """One row per number of labels, number of samples and method, the best mean gain first."""
        import polars as pl

        rows = []
        for labels in sorted({result.labels for result in self.results}):
            sets = [result for result in self.results if result.labels == labels]
            for n in sorted({n for result in sets for n in result.sizes}):
                there = [result for result in sets if n in result.sizes]
                rows += [{"labels": labels, "n": n, **row} for row in summaries(there, n)]
        frame = pl.DataFrame(rows).with_columns(
            (1e6 * pl.col("method").replace_strict(self.seconds, default=None)).alias("microseconds")
        )
        return frame.sort("labels", "n", "gain", descending=[False, False, True], maintain_order=True)

    @property
    def samples_to_match(self) -> pl.DataFrame:
        """The samples with which a method reaches vanilla's accuracy at the largest n, by labels; null is never."""
        import polars as pl

        rows = []
        for labels in sorted({result.labels for result in self.results}):
            sets = [result for result in self.results if result.labels == labels and "vanilla" in result.methods]
            sizes = sorted({n for result in sets for n in result.sizes})
            sets = [result for result in sets if list(result.sizes) == sizes]
            for method in common_methods(sets):
                mean = np.array([mean_accuracy(sets, method, n) for n in sizes])
                reached = first_reached(
                    np.array(sizes), mean[None], np.array([mean_accuracy(sets, "vanilla", sizes[-1])])
                )[0]
                rows.append((labels, method, float(reached) if math.isfinite(reached) else None))
        columns = {"labels": pl.Int64, "method": pl.String, "samples": pl.Float64}
        return pl.DataFrame(rows, columns, orient="row")


def leaderboard(
    sets: Sequence[ResponseSet],
    *,
    methods: Sequence[str] | None = None,
    labels: Sequence[int] = LABELS,
    n: Sequence[int] = SAMPLES,
    splits: int = SPLITS,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Leaderboard:
    """Measure methods on many sets of labelled responses.

    A set takes part at every n up to its number of samples, or of sources if it has several, and with L labels if it
    has L + 20 questions or more.

    >>> import steelyard as sy
    >>> pool = sy.read_labelled(sy.simulate(120, 8))
    >>> board = leaderboard([ResponseSet("simulated", pool)], labels=[0, 50], n=[4, 8])
    >>> board.table.filter(method="majority")["gain"].to_list()
    [0.0, 0.0, 0.0, 0.0]
    """
    if not sets:
        raise SettingError("a leaderboard needs at least one set of labelled responses")
    if min(n, default=0) < 1 or min(labels, default=-1) < 0 or splits < 1:
        raise SettingError("a leaderboard needs n and splits of at least 1, and numbers of labels of at least 0")
    few = [count for count in labels if 0 < count < FEWEST_QUESTIONS]
    if few:
        raise SettingError(f"{few[0]} labels are too few to fit a method: use 0, or {FEWEST_QUESTIONS} and more")
    if oracles := [name for name in methods or () if method_class(name).oracle]:
        raise SettingError(f"{', '.join(oracles)} reads the labels of the test questions: leave it out")
    results: list[SetResult] = []
    pools: list[LabelledPool] = []
    for done, one in enumerate(sets):
        for i, count in enumerate(sorted(set(labels))):
            if progress:
                progress((done + i / len(labels)) / len(sets))
            result = _measure(one, methods, count, sorted(set(n)), splits, seed)
            if result is not None:
                results.append(result)
                pools.append(one.pool)
    if not results:
        samples, questions = max(_largest(one.pool) for one in sets), max(one.pool.n_questions for one in sets)
        noun = "sources" if any(len(one.pool.sources) > 1 for one in sets) else "samples"
        raise SettingError(
            f"the largest set has {samples} {noun} and {questions} questions, too few for n = {min(n)} and "
            f"{min(labels)} labels, which need {min(labels) + FEWEST} questions: choose fewer"
        )
    _warn_about_missing(results, methods, labels, n)
    most = max(range(len(results)), key=lambda i: len(results[i].methods))
    return Leaderboard(results, _speed(pools[most], results[most].methods))


def _warn_about_missing(
    results: Sequence[SetResult], methods: Sequence[str] | None, labels: Sequence[int], n: Sequence[int]
) -> None:
    """Say which of the requested n, numbers of labels and methods are not on the board."""
    sizes = {size for result in results for size in result.sizes}
    missing = [f"n = {size} (no set has so many samples or sources)" for size in sorted(set(n) - sizes)]
    counts = {result.labels for result in results}
    missing += [f"{count} labels (no set has {count + FEWEST} questions)" for count in sorted(set(labels) - counts)]
    for name in methods or ():
        measured = {result.labels for result in results if name in result.methods}
        if absent := sorted(counts - measured):
            why = "it needs labels" if method_class(name).learns and measured else "it cannot vote on these sets"
            missing.append(f"{name} with {', '.join(map(str, absent))} labels ({why})")
    if missing:
        warnings.warn(f"not on the board: {'; '.join(missing)}", SteelyardWarning, stacklevel=3)


def _measure(
    one: ResponseSet, methods: Sequence[str] | None, labels: int, n: Sequence[int], splits: int, seed: int
) -> SetResult | None:
    """Measure one set with some number of labels; None: it is too small for that."""
    pool = one.pool
    sizes = [size for size in n if size <= _largest(pool)]
    if not sizes or pool.n_questions < labels + FEWEST:
        return None
    chosen = _methods(pool, methods, labels)
    rng = np.random.default_rng([seed, labels])
    total, times = np.zeros((pool.n_questions, len(sizes), len(chosen))), np.zeros(pool.n_questions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteelyardWarning)
        for split in range(splits):
            order = rng.permutation(pool.n_questions)
            tested = np.sort(order[labels : labels + MOST])
            cal, test = pool.take(np.sort(order[:labels])), pool.take(tested)
            measured = _committee_shares if len(pool.sources) > 1 else _shares
            correct = measured(chosen, cal if labels else None, test, sizes, seed + split)
            total[tested] += correct
            times[tested] += 1
    seen = np.flatnonzero(times)
    ids = np.asarray(pool.questions).astype(str)[seen]
    mean = total[seen] / times[seen, None, None]
    return SetResult(one.name, labels, _default(pool, labels), tuple(chosen), tuple(sizes), mean, ids)


def _methods(pool: LabelledPool, methods: Sequence[str] | None, labels: int) -> list[str]:
    """The methods that can vote on a pool after so many labels; the majority vote and the default always take part."""
    usable = [name for name in all_methods(pool, rare=True) if not method_class(name).oracle]
    if pool.scores is None:
        usable = [name for name in usable if not method_class(name).scored]
    if not labels:
        usable = [name for name in usable if not method_class(name).learns]
    for name in methods or ():
        method_class(name)
    return [name for name in usable if methods is None or name in (*methods, BASELINE, _default(pool, labels))]


def _largest(pool: LabelledPool) -> int:
    """The largest n of a set."""
    return len(pool.sources) if len(pool.sources) > 1 else pool.n


def _default(pool: LabelledPool, labels: int) -> str:
    """The default method; without labels that of a vote without a plan (tables/vote.py, sampling/ask/prepare.py)."""
    if labels:
        return default_method(pool)
    if len(pool.sources) > 1:
        return OF_SOURCES
    return unplanned(pool.scores is not None).name


def _shares(
    methods: Sequence[str], cal: LabelledPool | None, test: LabelledPool, sizes: Sequence[int], seed: int
) -> Shares:
    """How often every test question is answered correctly [Q, S, K]; a method without a fit votes like the majority."""
    if cal is not None:
        correct = curves(list(methods), cal, test, n=sizes, resamples=RESAMPLES, seed=seed).correct
    else:
        voters: list[list[Method | None]] = [[_without_labels(name, test) for name in methods]] * len(sizes)
        correct = correct_shares(voters, test, np.array(sizes), resamples=RESAMPLES, seed=seed)[0]
    by_majority = correct[:, :, [list(methods).index(BASELINE)]]
    return np.where(np.isnan(correct), by_majority, correct)


def _committee_shares(
    methods: Sequence[str], cal: LabelledPool | None, test: LabelledPool, sizes: Sequence[int], seed: int
) -> Shares:
    """How often every test question is answered correctly by committees of n random sources [Q, S, K]."""
    rng = np.random.default_rng(seed)
    correct = np.zeros((test.n_questions, len(sizes), len(methods)))
    for s, n in enumerate(sizes):
        draws = 1 if n == len(test.sources) else COMMITTEES
        for _ in range(draws):
            names = [test.sources[i] for i in rng.choice(len(test.sources), n, replace=False)]
            committee = test.from_sources(names)
            answered = np.isin(np.asarray(test.questions), np.asarray(committee.questions))
            for k, name in enumerate(methods):
                if cal is None:
                    voter = _without_labels(name, committee)
                else:
                    voter = fit_or_majority(method_class(name)(), cal.from_sources(names))
                correct[answered, s, k] += voter.predict(committee.unlabelled()).correct(committee) / draws
    return correct


def _without_labels(name: str, test: LabelledPool) -> Method:
    """A method that votes without labels; one that weighs sources learns from the votes on the test questions."""
    method = method_class(name)()
    return method.fit(test.unlabelled()) if method.weighs_sources else method


def _speed(pool: LabelledPool, methods: Sequence[str]) -> dict[str, float]:
    """CPU seconds of a vote per response."""
    seconds = {}
    test = pool.unlabelled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteelyardWarning)
        for name in methods:
            voter = method_class(name)()
            if voter.learns or voter.weighs_sources:
                voter = voter.fit(pool)
            voter.decide(test)
            started = time.process_time()
            voter.decide(test)
            seconds[name] = (time.process_time() - started) / max(1, test.n_responses)
    return seconds
