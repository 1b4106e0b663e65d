"""A plan's cascade on questions whose answers are all known: how good it is, what it costs, and whom it asks."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.evaluation.accuracy import as_columns, estimates, need_labels
from steelyard.evaluation.plan_cascade import costs_of
from steelyard.evaluation.source_prices import source_costs
from steelyard.foundation.errors import CalibrationError, PlanError, SettingError, SteelyardWarning
from steelyard.voting.fitting.answer_odds import Panel, is_correct
from steelyard.voting.methods import load
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.stopping.cascade import Cascade

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class CascadeReplay:
    """Accuracy and mean cost per question of the cascade, and of everyone as the plan weighs them; who was asked.

    `rows` has a row for each of the two: `gain` is the paired difference to everyone. `sampled` has, for every source,
    the share of questions at which it was asked and what that costs per question.

    >>> import polars as pl, steelyard as sy
    >>> table = sy.simulate(120, 1, seed=0).with_columns(llm=pl.lit("gpt"))
    >>> both = pl.concat([table, sy.simulate(120, 1, seed=0).with_columns(llm=pl.lit("phi"))])
    >>> pool = sy.read_labelled(both.with_columns(tokens=pl.lit(1000)), source="llm", tokens=True, score="none")
    >>> plan = sy.plan_budget(pool, prices={"gpt": 10, "phi": 0.5}, budget="100%").plan
    >>> sy.evaluation.replay_cascade(pool, plan).rows["policy"].to_list()
    ['cascade', 'everyone']
    """

    rows: pl.DataFrame
    sampled: pl.DataFrame
    cascade: Cascade
    questions: int
    left_out: int  # questions that the cascade was learned on


def replay_cascade(
    pool: Pool,
    plan: Method | str | Path,
    prices: Mapping[str, float] | None = None,
    *,
    costs: bool = False,
    seed: int = 0,
) -> CascadeReplay:
    """Replay the cascade of a plan on labelled questions, leaving out those that it was learned on.

    The pool is read with `tokens=True` and paid for with `prices`, else with those of the plan; `costs=True`, or a plan
    without prices, says that it was read with a column of costs (`tokens="cost"`).

    >>> import steelyard as sy
    >>> rows = [(q, s) for q in range(120) for s in ("gpt", "phi")]
    >>> answer = [0 if q % 9 and s == "gpt" or q % 3 else 1 for q, s in rows]
    >>> question, source = zip(*rows)
    >>> pool = sy.Pool.from_arrays(question=question, answer=answer, source=source, correct=[a == 0 for a in answer])
    >>> pool = replace(pool, tokens=np.full(240, 1000.0))
    >>> best = sy.plan_budget(pool, prices={"gpt": 10, "phi": 0.5}, budget="10%")
    >>> replayed = sy.evaluation.replay_cascade(pool, best.plan)
    >>> replayed.questions, replayed.left_out, replayed.sampled.drop("cost").rows()
    (60, 60, [('gpt', 0.0), ('phi', 1.0)])
    """
    import polars as pl

    voter = plan if isinstance(plan, Method) else load(plan)
    cascade = cascade_of(voter)
    labelled = need_labels(pool)
    if missing := [name for name in cascade.sources if name not in pool.sources]:
        raise SettingError(f"the plan's cascade asks {', '.join(missing)}, and no source of that name is in the table")
    if prices is None and not costs:
        prices = {name: price for name, price in cascade.origin.prices.items() if name in pool.sources} or None
        if cascade.origin.per_response:
            labelled = replace(labelled, tokens=None)
    cost = source_costs(labelled, prices)
    fresh = np.flatnonzero(~_learned_on(cascade, labelled))
    test, cost = labelled.take(fresh), cost[fresh]
    panel = Panel.of(test)
    outcome = cascade.replay(panel)
    everyone = voter.predict(test.unlabelled()).correct(test).astype(np.float64)
    right = is_correct(panel, outcome.row).astype(np.float64)
    spent, whole = costs_of(outcome, cost), cost.sum(axis=1)
    figures = iter(estimates(np.stack([right, spent, right - everyone, everyone, whole, 0 * right], axis=1), seed=seed))
    rows = []
    for name in ("cascade", "everyone"):
        accuracy, price, gain = islice(figures, 3)
        measured = as_columns(accuracy, "accuracy", "") | {"cost": float(price), "cost_se": price.se}
        rows.append({"policy": name, **measured, **as_columns(gain, "gain")})
    asks = outcome.sampled[:, : len(panel.names)]
    mean_cost = np.where(asks, cost, 0.0).mean(axis=0)
    sampled = pl.DataFrame({"source": list(panel.names), "sampled": asks.mean(axis=0), "cost": mean_cost})
    return CascadeReplay(pl.DataFrame(rows), sampled, cascade, len(fresh), labelled.n_questions - len(fresh))


def cascade_of(voter: Method) -> Cascade:
    """The cascade of a plan that has one."""
    if voter.cascade_ is None:
        raise PlanError(
            "this plan has no cascade to replay: make one with 'steelyard plan-budget FILE --source llm --price ..'; "
            "evaluate without --plan measures methods"
        )
    return voter.cascade_


def _learned_on(cascade: Cascade, pool: LabelledPool) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which questions the cascade was learned on, by their names [Q]."""
    if not cascade.origin.questions:
        warnings.warn(
            "the plan does not say which questions its cascade was learned on: on those it looks better than it is",
            SteelyardWarning,
            stacklevel=3,
        )
    learned = np.array(cascade.origin.learned_on(np.asarray(pool.questions).tolist()), bool)
    if learned.all():
        raise CalibrationError(
            "the cascade was learned on every one of these questions, by their names: use others to measure it"
        )
    return learned
