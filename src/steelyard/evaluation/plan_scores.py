"""Which scores are worth their price in accuracy: learned on one part of the questions and measured on the other."""

from __future__ import annotations

from copy import deepcopy
from itertools import islice
from typing import Any

import numpy as np
import polars as pl

from steelyard.evaluation.accuracy import estimates, need_labels
from steelyard.evaluation.budget_plan import BudgetPlan, difference
from steelyard.evaluation.frugal_plan import check_price, learn_asking
from steelyard.evaluation.joint_search import without_scores
from steelyard.evaluation.percentages import percent
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.majority import MajorityVote
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.base_rule import replay
from steelyard.voting.on_demand.readings import texts_asked
from steelyard.voting.pools.pool import LabelledPool, Pool

RIVALS = {"gain": "majority"}


def plan_scores(pool: Pool, method: Method, *, price: float, calibrate: float = 0.5, seed: int = 0) -> BudgetPlan:
    """Fit a method and learn which scores to ask for when one costs `price`, in accuracy.

    >>> import steelyard as sy
    >>> pool = sy.read_labelled(sy.simulate(200, 8))
    >>> plan_scores(pool, sy.VanillaVote(), price=0.0015).table["policy"].to_list()
    ['scores on demand', 'every score', 'no score']
    """
    check_price(price)
    cal, test = need_labels(pool).split(calibrate, seed=seed)
    voter = learn_asking(deepcopy(method).fit(cal), cal, price=price, seed=seed)
    rows = _rows(voter, test, price, seed)
    advice = voter.asking_.explain() if voter.asking_ else ""
    figures = rows[0]
    explanation = (
        f"{advice} On the {test.n_questions} other questions: {percent(figures['accuracy'])} % ± "
        f"{percent(figures['se'])} correct with {figures['buys']} per question; {difference(figures, 'gain')} against "
        "majority."
    )
    return BudgetPlan(voter, pl.DataFrame(rows), figures, RIVALS, explanation, cal.n_questions, test.n_questions)


def _rows(voter: Method, test: LabelledPool, price: float, seed: int) -> list[dict[str, Any]]:
    """Measure scores on demand, every score and none, all on the same bootstrap draws."""
    bare = test.unlabelled()
    asked = replay(asking_rule("expected"), voter, bare)
    read = [texts_asked(asked), texts_asked(bare), np.zeros(test.n_questions)]
    unscored = without_scores(test).unlabelled()  # nothing was paid for scores that could break ties
    verdicts = [voter.decide(asked), voter.decide(bare), MajorityVote().decide(unscored)]
    correct = [each.correct(test).astype(np.float64) for each in verdicts]
    columns = [column for each in correct for column in (each, each - correct[-1])]
    measured = iter(estimates(np.stack(columns, axis=1), seed=seed))
    rows = []
    for policy, texts in zip(("scores on demand", "every score", "no score"), read, strict=True):
        accuracy, gain = islice(measured, 2)
        scores = float(np.mean(texts))
        row: dict[str, Any] = {"policy": policy, "buys": f"{scores:.1f} scores", "scores": scores}
        row |= {"cost": price * scores, "accuracy": float(accuracy), "se": accuracy.se}
        row |= {"low": accuracy.low, "high": accuracy.high, "gain": float(gain), "gain_se": gain.se}
        rows.append(row | {"gain_low": gain.low, "gain_high": gain.high, "chosen": policy == "scores on demand"})
    return rows
