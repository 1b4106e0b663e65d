"""A budget for the samples and the scores of several sources: chosen on some questions, measured on the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from steelyard.evaluation.accuracy import need_labels
from steelyard.evaluation.budget_plan import BudgetPlan, difference
from steelyard.evaluation.committee_choice import CommitteeChoice
from steelyard.evaluation.committee_curve import curve_rows
from steelyard.evaluation.committee_prices import PricedPool, ScorePrice, paid, priced
from steelyard.evaluation.committee_rivals import Rivals
from steelyard.evaluation.percentages import percent
from steelyard.evaluation.trajectories import FEWEST
from steelyard.foundation.errors import CalibrationError, SettingError
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.committee import CommitteeVote
from steelyard.voting.pools.pool import Pool

RIVALS = {"gain": "majority", "over_single": "the best source"}


def plan_committee_budget(
    pool: Pool,
    method: Method,
    prices: Mapping[str, float] | None = None,
    *,
    price_sample: float | None = None,
    price_score: ScorePrice,
    budget: float,
    budgets: Sequence[float] | None = None,
    calibrate: float = 0.5,
    seed: int = 0,
) -> BudgetPlan:
    """Choose how many samples of each source to draw and whose scores to ask for, for a mean cost per question.

    `prices` are per million tokens, one for every source (the pool is read with `tokens=True`); `price_sample` is one
    price of any sample instead; with neither, what the pool read is the cost itself (`tokens="cost"`). `price_score` is
    the price of one score, or one by source. A text is read once where the pool knows texts (`read(texts=True)`). A
    part `calibrate` of the questions fits and chooses; the rest says what that is worth, for every one of `budgets`,
    beside majority vote with more samples of all sources, and of the best single one, for the same cost. The plan is
    that of `method`, a committee, or of `calibrated` where all that is bought is scored and that is better.

    >>> import steelyard as sy
    >>> rows = [(q, s) for q in range(60) for s in ("gpt", "phi")]
    >>> answer = [0 if q % 9 and s == "gpt" or q % 3 else 1 for q, s in rows]
    >>> question, source = zip(*rows)
    >>> arrays = {"question": question, "answer": answer, "source": source, "scores": [0.5 + a / 9 for a in answer]}
    >>> pool = sy.Pool.from_arrays(**arrays, correct=[a == 0 for a in answer])
    >>> dear = dict(price_sample=1, price_score={"gpt": 5, "phi": 9}, budget=2, budgets=[])
    >>> plan_committee_budget(pool, sy.CommitteeVote(), **dear).figures["scored"]
    []
    """
    labelled = need_labels(pool)
    if not isinstance(method, CommitteeVote):
        raise SettingError(f"{method.name} does not learn what each source is worth: plan with the method committee")
    whole = priced(labelled, prices, price_sample, price_score)
    if len(pool.sources) < 2:
        raise SettingError("a committee needs two sources or more, and these responses have one")
    cal, test = whole.split(calibrate, seed)
    _check_enough(cal, test)
    return committee_budget(cal, test, method, budget, budgets, seed=seed)


def committee_budget(
    cal: PricedPool,
    test: PricedPool,
    method: CommitteeVote,
    budget: float,
    budgets: Sequence[float] | None = None,
    *,
    seed: int = 0,
) -> BudgetPlan:
    """The same with the questions parted already."""
    for each in (budget, *(budgets or ())):
        cal.check_budget(each)
    choice = CommitteeChoice(method, cal, budget, budgets, seed=seed)
    chosen = {each: choice.within(each) for each in choice.budgets}
    seen = {way.key: choice.ways.measured(way, test) for way in chosen.values()}
    ways = [(each, way, seen[way.key]) for each, way in chosen.items()]
    rows = curve_rows(ways, Rivals(cal, test), test.pool.sources, seed)
    for row in rows:
        row["chosen"] = row["budget"] == budget
    figures = next(row for row in rows if row["chosen"])
    curve = pl.DataFrame(rows, schema_overrides={"margin": pl.Float64, "scored": pl.List(pl.String)})
    voter = choice.ways.voter(chosen[budget])
    voter.samples_ = {name: n for name, n in figures["samples"].items() if n}
    explanation = _explanation(figures, test.pool.n_questions)
    return BudgetPlan(voter, curve, figures, RIVALS, explanation, cal.pool.n_questions, test.pool.n_questions)


def _explanation(figures: dict[str, Any], questions: int) -> str:
    """Return what to buy, what it costs and how accurate it is."""
    take = ", ".join(f"{n} of {name}" for name, n in figures["samples"].items() if n)
    text = f"Samples to take per question: {take}. "
    if figures["margin"] is None:
        text += "Do not ask the verifier: at this budget it does not pay on the calibration questions. "
    else:
        read = ", ".join(f"{figures['scores'][name]:.1f} of {name}" for name in figures["scored"])
        text += f"Scores to ask for, on average: {read}. "
    text += f"On the {questions} other questions: {percent(figures['accuracy'])} % ± {percent(figures['se'])} "
    text += f"correct at {figures['cost']:.4g} per question. Against majority over all sources with more samples for "
    text += f"the same cost: {difference(figures, 'gain')}; against {figures['single']} alone, the best single source: "
    text += f"{difference(figures, 'over_single')}."
    if figures["gain_high"] < 0 or figures["over_single_high"] < 0:
        text += " That is significantly less, so take what beats it instead, or label more questions."
    if figures["cost"] > figures["budget"]:
        text += f" It is more than the budget of {figures['budget']:.4g}: within what the questions could tell."
    return text


def _check_enough(cal: PricedPool, test: PricedPool) -> None:
    """Refuse too few questions, and a source that hardly answered any of them."""
    few = min(cal.pool.n_questions, test.pool.n_questions)
    if few < FEWEST:
        raise CalibrationError(f"{few} questions to choose or to test on are too few: bring {FEWEST} or more for each")
    for part in (cal.pool, test.pool):
        pairs = np.unique(np.stack((part.spread(np.arange(part.n_questions)), paid(part)[0])), axis=1)
        answered = np.bincount(pairs[1], minlength=len(part.sources))
        if answered.min() < max(FEWEST, part.n_questions / 2):
            name, count = part.sources[int(answered.argmin())], int(answered.min())
            raise CalibrationError(
                f"{name} answered {count} of {part.n_questions} questions, too few to plan with: leave its responses "
                "out, or have it answer the others"
            )
