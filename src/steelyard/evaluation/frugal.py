"""What asking on demand saves and costs: a rule is replayed on test questions whose scores are all known."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.evaluation.accuracy import estimates
from steelyard.evaluation.confidence_quality import measures
from steelyard.evaluation.frugal_plan import PRICE, check_price, learn_asking, learn_confidence
from steelyard.foundation.errors import SteelyardWarning
from steelyard.voting.methods import method_class
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.majority import MajorityVote
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.base_rule import replay
from steelyard.voting.on_demand.readings import texts_asked
from steelyard.voting.pools.pool import LabelledPool
from steelyard.voting.pools.verdicts import Verdicts

if TYPE_CHECKING:
    import polars as pl


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
        for given in methods:
            method = method_class(given)() if isinstance(given, str) else deepcopy(given)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SteelyardWarning)
                voter = method.fit(learned)
            if rule == "expected":
                voter = learn_asking(voter, learned, price=price, seed=seed)
            else:
                voter = learn_confidence(voter, learned, seed=seed)
            rows.append({"method": voter.name, "n": size, "rule": rule, **_figures(voter, seen, rule, seed)})
    return pl.DataFrame(rows, schema_overrides={"ece": pl.Float64, "ece_all_scores": pl.Float64})


def _figures(voter: Method, test: LabelledPool, rule: str, seed: int) -> dict[str, Any]:
    bare = test.unlabelled()
    asked = replay(asking_rule(rule), voter, bare)
    some, every, majority = voter.predict(asked), voter.predict(bare), MajorityVote().predict(bare)
    correct = [verdicts.correct(test).astype(np.float64) for verdicts in (some, every, majority)]
    columns = np.stack((correct[0], correct[1], texts_asked(asked) / test.sizes), axis=1)
    accuracy, whole, _ = estimates(columns, seed=seed, shares=True)
    gain, gain_all = estimates(np.stack((correct[0] - correct[2], correct[1] - correct[2]), axis=1), seed=seed)
    scored = float(texts_asked(asked).sum() / test.n_responses)
    return {
        "scored": scored,
        "accuracy": float(accuracy),
        "se": accuracy.se,
        "low": accuracy.low,
        "high": accuracy.high,
        "all_scores": float(whole),
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
