"""Scores on demand: learn how much a score is worth, plan for a price, and measure what is saved.

The rule `expected` is replayed on the calibration questions with ever wider margins (evaluation/crossfit_replay.py); a
margin of 0 asks for nothing. The margin with the lowest  loss + price x scores per question  is chosen. The confidence
of verdicts with partial scores is learned on the same replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.evaluation.accuracy import as_columns, estimates, need_labels
from steelyard.evaluation.budget_plan import BudgetPlan, difference
from steelyard.evaluation.crossfit_replay import CrossfitReplay
from steelyard.evaluation.method_tables import measures
from steelyard.evaluation.percentages import percent
from steelyard.evaluation.spending_strategies import fitted_copy, without_scores
from steelyard.foundation.errors import CalibrationError, SettingError, need_numbers
from steelyard.voting.methods import method_class
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.majority import MajorityVote
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.asking import PROVEN
from steelyard.voting.on_demand.base_rule import replay
from steelyard.voting.on_demand.readings import texts_scored
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.verdicts import Verdicts

if TYPE_CHECKING:
    import polars as pl

MARGINS = (0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
PRICE = 0.0015  # of one score, in accuracy: about seven scores must bring a point
MAX_PRICE = 1.0
RIVALS = {"gain": "majority"}


def learn_asking(method: Method, labelled: LabelledPool, *, price: float = PRICE, seed: int = 0) -> Method:
    """Return a fitted method that has learned what another score is worth, on the pool it was fitted on.

    `price` is what one score costs, in accuracy: 0.0015 is about a point for seven scores.

    >>> import steelyard as sy
    >>> pool = sy.read_labelled(sy.simulate(100, 8))
    >>> vote = learn_asking(sy.CalibratedVote().fit(pool), pool)
    >>> 0 <= vote.asking_.scored <= 1
    True
    """
    check_price(price)
    pool = labelled if method.fitted_on_ is None else labelled.first(method.fitted_on_.n)
    crossfit = CrossfitReplay.of(method, pool, seed=seed)
    candidates = []
    for margin in MARGINS:
        asking, seen, _ = crossfit.replayed(margin)
        scores = float(texts_scored(seen).mean())
        candidates.append((asking.loss + price * scores, asking, seen))
        if price * scores > min(cost for cost, *_ in candidates):  # a wider margin asks for more still
            break
    nothing = candidates[0][1].loss
    _, asking, seen = min(candidates, key=lambda candidate: candidate[0])
    learned = copy(method)
    learned.asking_ = crossfit.with_confidence(replace(asking, gain=nothing, price=price), seen)
    return learned


def learn_confidence(method: Method, labelled: LabelledPool, *, seed: int = 0) -> Method:
    """Return a fitted method that has learned the confidence of verdicts by the rule `exact`, where it can."""
    if method.oracle or not method.reads_scores():
        return method
    try:
        learned = learn_asking(method, labelled, seed=seed)
    except CalibrationError:  # too few questions: its verdicts are as exact without
        return method
    learned.asking_ = replace(learned.asking_, rule=PROVEN) if learned.asking_ else None
    return learned


def check_price(price: float) -> None:
    """Refuse a price outside of [0, 1]."""
    need_numbers(price_score=price)
    if not 0 <= price <= MAX_PRICE:
        raise SettingError(
            f"the price of a score is {price:g}: give it in accuracy, 0 or more and at most 1, as 0.0015 (a point "
            "of accuracy for seven scores)"
        )


def plan_scores(pool: Pool, method: Method, *, price: float, calibrate: float = 0.5, seed: int = 0) -> BudgetPlan:
    """Fit a method and learn which scores to ask for at a price per score, in accuracy.

    >>> import steelyard as sy
    >>> pool = sy.read_labelled(sy.simulate(200, 8))
    >>> plan_scores(pool, sy.VanillaVote(), price=0.0015).table["policy"].to_list()
    ['scores on demand', 'every score', 'no score']
    """
    import polars as pl

    check_price(price)
    cal, test = need_labels(pool).split(calibrate, seed=seed)
    voter = learn_asking(deepcopy(method).fit(cal), cal, price=price, seed=seed)
    rows = _policy_rows(voter, test, price, seed)
    advice = voter.asking_.explain() if voter.asking_ else ""
    figures = rows[0]
    explanation = (
        f"{advice} On the {test.n_questions} other questions: {percent(figures['accuracy'])} % ± "
        f"{percent(figures['se'])} correct with {figures['buys']} per question; {difference(figures, 'gain')} against "
        "majority."
    )
    return BudgetPlan(voter, pl.DataFrame(rows), figures, RIVALS, explanation, cal.n_questions, test.n_questions)


def _policy_rows(voter: Method, test: LabelledPool, price: float, seed: int) -> list[dict[str, Any]]:
    """Measure scores on demand, every score and none, all on the same bootstrap draws."""
    bare = test.unlabelled()
    scored = replay(asking_rule("expected"), voter, bare)
    read = [texts_scored(scored), texts_scored(bare), np.zeros(test.n_questions)]
    unscored = without_scores(test).unlabelled()  # nothing was paid for scores that could break ties
    verdicts = [voter.decide(scored), voter.decide(bare), MajorityVote().decide(unscored)]
    correct = [verdict.correct(test).astype(np.float64) for verdict in verdicts]
    columns = [column for values in correct for column in (values, values - correct[-1])]
    measured = iter(estimates(np.stack(columns, axis=1), seed=seed))
    rows = []
    for policy, texts in zip(("scores on demand", "every score", "no score"), read, strict=True):
        accuracy, gain = islice(measured, 2)
        scores = float(np.mean(texts))
        row: dict[str, Any] = {"policy": policy, "buys": f"{scores:.1f} scores", "scores": scores}
        row |= {"cost": price * scores} | as_columns(accuracy, "accuracy", "") | as_columns(gain, "gain")
        rows.append(row | {"chosen": policy == "scores on demand"})
    return rows


def evaluate_frugal(
    methods: Sequence[Method | str],
    cal: LabelledPool,
    test: LabelledPool,
    rule: str,
    *,
    n: Sequence[int] | None = None,
    price: float = PRICE,
    seed: int = 0,
) -> pl.DataFrame:
    """Return one row per method and n: accuracy with the scores that a rule asks for, and the share that is.

    Methods are fitted on the first n samples of the calibration questions and vote on the first n of the test
    questions. `scored` is the share of the responses that the verifier would have read, a text once where the pool
    knows texts (`read(texts=True)`); `all_scores` is the accuracy with every score, `gain` that over majority vote.
    `price` is what one score costs, in accuracy, for the rule `expected`. `ece` is null for a method that learns no
    confidence.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> row = evaluate_frugal(["calibrated"], cal, test, "exact").row(0, named=True)
    >>> row["changed"], row["scored"] < 1, row["accuracy"] == row["all_scores"]
    (0, True, True)
    """
    import polars as pl

    check_price(price)
    asking_rule(rule)
    rows = []
    for size in n or [min(cal.n, test.n)]:
        learned, seen = cal.first(size), test.first(size)
        for choice in methods:
            voter = fitted_copy(method_class(choice)() if isinstance(choice, str) else choice, learned)
            if rule == "expected":
                voter = learn_asking(voter, learned, price=price, seed=seed)
            else:
                voter = learn_confidence(voter, learned, seed=seed)
            rows.append({"method": voter.name, "n": size, "rule": rule, **_replay_figures(voter, seen, rule, seed)})
    return pl.DataFrame(rows, schema_overrides={"ece": pl.Float64, "ece_all_scores": pl.Float64})


def _replay_figures(voter: Method, test: LabelledPool, rule: str, seed: int) -> dict[str, Any]:
    bare = test.unlabelled()
    scored = replay(asking_rule(rule), voter, bare)
    some, every, majority = voter.predict(scored), voter.predict(bare), MajorityVote().predict(bare)
    correct = [verdicts.correct(test).astype(np.float64) for verdicts in (some, every, majority)]
    columns = np.stack((correct[0], correct[1], texts_scored(scored) / test.sizes), axis=1)
    accuracy, all_scores, _ = estimates(columns, seed=seed, shares=True)
    gain, gain_all = estimates(np.stack((correct[0] - correct[2], correct[1] - correct[2]), axis=1), seed=seed)
    return {
        "scored": float(texts_scored(scored).sum() / test.n_responses),
        **as_columns(accuracy, "accuracy", ""),
        "all_scores": float(all_scores),
        "gain": float(gain),
        "gain_se": gain.se,
        "gain_all_scores": float(gain_all),
        "changed": int((some.code != every.code).sum()),
        "ece": _ece(some, correct[0]),
        "ece_all_scores": _ece(every, correct[1]),
        "advice": voter.asking_.explain() if rule == "expected" and voter.asking_ else "",
    }


def _ece(verdicts: Verdicts, correct: np.ndarray[Any, np.dtype[np.float64]]) -> float | None:
    """The expected calibration error; None where the method has learned no probability."""
    return None if verdicts.p_correct is None else measures(verdicts.p_correct, correct > 0)["ece"]
