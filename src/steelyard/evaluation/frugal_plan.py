"""What a plan learns about asking: the rule `expected` is replayed on calibration questions with ever wider margins.

The margin taken is the one with the least  loss + price x scores per question  (evaluation/crossfit_asking.py); a
margin of 0 asks nothing. How sure a verdict with some scores is, is learned on the same replay.
"""

from __future__ import annotations

import copy
from dataclasses import replace

from steelyard.evaluation.crossfit_asking import CrossfitAsking
from steelyard.foundation.errors import CalibrationError, SettingError, need_numbers
from steelyard.voting.methods.base.method import Method
from steelyard.voting.on_demand.asking import PROVEN
from steelyard.voting.on_demand.readings import texts_asked
from steelyard.voting.pools.pool import LabelledPool

MARGINS = (0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
PRICE = 0.0015  # of one score, in accuracy: about seven scores must bring a point
MOST = 1.0


def learn_asking(method: Method, labelled: LabelledPool, *, price: float = PRICE, seed: int = 0) -> Method:
    """Let a fitted method learn on the pool it was fitted on what another score is worth; return it.

    `price` is what one score costs, in accuracy: 0.0015 is about a point for seven scores.

    >>> import steelyard as sy
    >>> pool = sy.read_labelled(sy.simulate(100, 8))
    >>> vote = learn_asking(sy.CalibratedVote().fit(pool), pool)
    >>> 0 <= vote.asking_.scored <= 1
    True
    """
    check_price(price)
    pool = labelled if method.fitted_on_ is None else labelled.first(method.fitted_on_.n)
    crossfit = CrossfitAsking.of(method, pool, seed=seed)
    found = []
    for margin in MARGINS:
        asking, seen, _ = crossfit.replayed(margin)
        scores = float(texts_asked(seen).mean())
        found.append((asking.loss + price * scores, asking, seen))
        if price * scores > min(cost for cost, *_ in found):  # a wider margin asks for more still
            break
    nothing = found[0][1].loss
    _, asking, seen = min(found, key=lambda each: each[0])
    learned = copy.copy(method)
    learned.asking_ = crossfit.with_confidence(replace(asking, gain=nothing, price=price), seen)
    return learned


def learn_confidence(method: Method, labelled: LabelledPool, *, seed: int = 0) -> Method:
    """Let a fitted method learn how sure verdicts by the rule `exact` are, where it can; return it."""
    if method.oracle or not method.reads_scores():
        return method
    try:
        learned = learn_asking(method, labelled, seed=seed)
    except CalibrationError:  # too few questions: its verdicts are as exact without
        return method
    learned.asking_ = replace(learned.asking_, rule=PROVEN) if learned.asking_ else None
    return learned


def check_price(price: float) -> None:
    """Refuse a price that is no price."""
    need_numbers(price_score=price)
    if not 0 <= price <= MOST:
        raise SettingError(
            f"the price of a score is {price:g}: give it in accuracy, 0 or more and at most 1, as 0.0015 (a point "
            "of accuracy for seven scores)"
        )
