"""Two voters on the same questions: methods, plans, files of verdicts or files of responses.

A method that learns is fitted on a part of the labelled file and both are compared on the rest, so
neither is tested on what it learned from. What a plan was fitted on is not known: fit it on other questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.answers.equivalence import EquivalenceChecker
from steelyard.answers.extract import AUTO, kind_of
from steelyard.answers.grouping import same
from steelyard.answers.kind import Kind
from steelyard.evaluation.accuracy import Estimate, estimate, estimates, need_labels
from steelyard.foundation.errors import LabelError, SettingError, TableError, did_you_mean
from steelyard.tables import read
from steelyard.tables.plan_reading import answers_of_plan
from steelyard.tables.sources.bundled_grid import is_grid
from steelyard.tables.sources.opening import open_table
from steelyard.tables.vote_warnings import warn_of_plan
from steelyard.voting.methods import default_method, fit_or_majority, load, method_class, method_names
from steelyard.voting.methods.base.calibration_checks import first_samples
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.pools.similarity import ALIKE

DECIDED = {"question", "answer", "votes", "confidence"}  # the columns by which a file of verdicts is known


@dataclass(frozen=True)
class Comparison:
    """What came of it: one row a question that both have decided, and the figures over them."""

    names: tuple[str, str]
    table: pl.DataFrame  # question, answer_a, answer_b, correct_a, correct_b (null without labels)
    differs: pl.Series  # by row, whether they decide differently

    @property
    def labelled(self) -> bool:
        """Whether it is known of both, on every question, if they are correct."""
        return all(self.table[name].null_count() == 0 for name in ("correct_a", "correct_b"))

    def accuracies(self, seed: int = 0) -> tuple[Estimate, Estimate]:
        """The accuracy of each, with standard error and interval over questions."""
        a, b = estimates(self._correct(), seed=seed, shares=True)
        return a, b

    def difference(self, seed: int = 0) -> Estimate:
        """Accuracy of the first minus accuracy of the second, paired by question."""
        both = self._correct()
        return estimate(both[:, 0] - both[:, 1], seed=seed)

    def differing(self) -> pl.DataFrame:
        """The questions on which they decide differently; two spellings of one answer are no difference."""
        return self.table.filter(self.differs)

    def _correct(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        if not self.labelled:
            raise LabelError("without labels there is no accuracy: name a labelled file with --on FILE")
        return self.table.select(pl.col("correct_a", "correct_b").cast(pl.Float64)).to_numpy()


def compare(
    a: str | Path,
    b: str | Path,
    *,
    on: Any = None,
    method: str | None = None,
    calibrate: float = 0.3,
    seed: int = 0,
    n: int | None = None,
    **options: Any,
) -> Comparison:
    """Decide the same questions by a and by b: each a method, a plan (.json), verdicts or responses.

    Methods and plans vote on the responses of `on`; verdicts take their labels from it; files of
    responses are voted on by `method`. `options` are those of `read`: score, source, rename, answers; the kind of
    answers is that of the plans, else that of the first file, for both sides.

    >>> import steelyard as sy
    >>> sy.write(sy.simulate(200, 8), "labelled.parquet")
    >>> found = sy.compare("pass-at-n", "majority", on="labelled.parquet")
    >>> found.names, found.table.height, found.difference() >= 0
    (('pass-at-n', 'majority'), 140, True)
    """
    names = (_named(a), _named(b))
    options.setdefault("answers", AUTO)
    for plan in (name for name in names if on is not None and name.endswith(".json")):
        options["answers"] = answers_of_plan(load(plan), options["answers"])  # two that differ are refused
    pool = need_labels(read(on, **options)) if on is not None else None
    options["answers"] = (pool.origin.answers if pool is not None else None) or options["answers"]
    cal, test = pool.split(calibrate, seed=seed) if pool is not None else (None, None)
    sides, compared = [], pool
    with EquivalenceChecker() as checker:
        for name in names:
            if name in method_names() or name.endswith(".json"):
                sides.append(_voted(name, cal, test, n))
            elif not is_grid(name) and not Path(name).exists():
                raise SettingError(f"{name!r} is not a method, plan or file: {did_you_mean(name, method_names())}")
            elif _is_decided(name):
                sides.append(_decided(name, pool, _kind(options), checker))
            else:
                own = need_labels(read(name, **options))
                options["answers"], compared = own.origin.answers, compared or own
                chosen = default_method(own) if method is None else _named(method)
                sides.append(_voted(chosen, *own.split(calibrate, seed=seed), n))
        table = sides[0].join(sides[1], on="question", suffix="_b", maintain_order="left")
        if not table.height:
            raise TableError(
                f"{names[0]} and {names[1]} have no question in common: compare what decides the same questions"
            )
        named = table.rename({"answer": "answer_a", "correct": "correct_a"})
        return Comparison(names, named, _differs(named, _kind(options), checker, compared))


def _kind(options: dict[str, Any]) -> Kind:
    """The kind that answers are compared by; files of verdicts alone do not say theirs."""
    return kind_of("math" if options["answers"] == AUTO else options["answers"])


def _named(voter: object) -> str:
    """What is to vote, as it is written on the command line."""
    if isinstance(voter, str | Path):
        return str(voter)
    raise SettingError(
        f"{voter!r:.80} is not a name: give the name of a method, or the path of a plan or a file; "
        "save a fitted method as a plan with method.save('plan.json')"
    )


def _voted(name: str, cal: LabelledPool | None, test: LabelledPool | None, n: int | None) -> pl.DataFrame:
    """The verdicts of a method or a plan, with whether they are right."""
    if cal is None or test is None:
        raise SettingError(f"{name} needs responses to vote on: name a labelled file with --on FILE")
    voter = load(name) if name.endswith(".json") else fit_or_majority(method_class(name)(), cal, n)
    used = first_samples(test, n)
    if name.endswith(".json"):
        warn_of_plan(voter, used.origin, bool(used.scores is None or not np.isnan(used.scores).all()))
    verdicts = voter.predict(used)
    decided = verdicts.to_polars().select(pl.col("question").cast(pl.String), pl.col("answer").cast(pl.String))
    return decided.with_columns(correct=pl.Series(verdicts.correct(used)))


def _is_decided(name: str) -> bool:
    """Whether a file holds verdicts; one that is no table by itself is left to its layout."""
    try:
        return set(open_table(name).collect_schema()) >= DECIDED
    except TableError:
        return False


def _decided(name: str, pool: LabelledPool | None, kind: Kind, checker: EquivalenceChecker) -> pl.DataFrame:
    """A file of verdicts, labelled by the pool it is compared on, if there is one."""
    verdicts = open_table(name).select(pl.col("question", "answer").cast(pl.String)).collect()
    if verdicts["question"].n_unique() < verdicts.height:
        raise TableError(f"{name} has several verdicts for a question: write it with 'steelyard vote'")
    if pool is None:
        return verdicts.with_columns(correct=pl.lit(None, pl.Boolean))
    ends = pool.base + pool.width
    spans = {str(q): span for q, *span in zip(pool.questions, pool.base.tolist(), ends.tolist(), strict=True)}
    shared = verdicts.filter(pl.col("question").is_in(list(spans)))
    labels = []
    for question, answer in shared.iter_rows():
        own = slice(*spans[question])
        labels.append(_is_correct(answer, pool.names[own].to_list(), pool.answer_correct[own], kind, checker))
    return shared.with_columns(correct=pl.Series(labels, dtype=pl.Boolean))


def _differs(
    table: pl.DataFrame, kind: Kind, checker: EquivalenceChecker, pool: LabelledPool | None = None
) -> pl.Series:
    """Whether the two answers of each row differ; two without an answer do not, nor similar ones of free text."""
    alike = _Alike(pool) if pool is not None and pool.similarity is not None else None
    apart = [
        a != b and (a is None or b is None or not (_same(a, b, kind, checker) or (alike and alike(question, a, b))))
        for question, a, b in table.select("question", "answer_a", "answer_b").iter_rows()
    ]
    return pl.Series(apart, dtype=pl.Boolean)


class _Alike:
    """Whether two answers of a pool are similar enough to vote for each other; False for answers that it lacks."""

    def __init__(self, pool: LabelledPool) -> None:
        self.pool = pool
        self.index = {str(question): q for q, question in enumerate(pool.questions)}

    def __call__(self, question: str, a: str, b: str) -> bool:
        pool, q = self.pool, self.index.get(question)
        if q is None or pool.similarity is None:
            return False
        base, width = int(pool.base[q]), int(pool.width[q])
        names = pool.names[base : base + width].to_list()
        if a not in names or b not in names:
            return False
        return bool(pool.similarity.block(q, width)[names.index(a), names.index(b)] >= ALIKE)


def _same(a: str, b: str, kind: Kind, checker: EquivalenceChecker) -> bool:
    return same(a, b, checker) if kind.maths else kind.form(a) == kind.form(b)


def _is_correct(answer: str | None, names: list[str], correct: Any, kind: Kind, checker: EquivalenceChecker) -> bool:
    """Whether an answer is one of those labelled right; spelled otherwise, it is compared as its kind is."""
    if answer is None:
        return False
    if answer in names:
        return bool(correct[names.index(answer)])
    return any(_same(answer, name, kind, checker) for name, good in zip(names, correct, strict=True) if good)
