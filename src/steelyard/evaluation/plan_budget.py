"""What is the best that a budget buys? One function for samples, scores and sources."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from steelyard.evaluation.accuracy import need_labels
from steelyard.evaluation.budget_plan import BudgetPlan
from steelyard.evaluation.plan_cascade import plan_cascade
from steelyard.evaluation.plan_committee import plan_committee
from steelyard.evaluation.plan_samples_and_scores import plan_samples_and_scores
from steelyard.evaluation.plan_stopping import plan_stopping
from steelyard.evaluation.price_table import Price, PriceTable
from steelyard.evaluation.scores_on_demand import plan_scores
from steelyard.evaluation.source_prices import priced
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import SettingError, SteelyardNote
from steelyard.tables.columns import RESPONSE, TOKENS
from steelyard.voting.methods import default_method, method_class
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Pool


def plan_budget(
    pool: Pool,
    method: Method | str | None = None,
    *,
    prices: Mapping[str, Price] | None = None,
    budget: float | str | None = None,
    loss: float | None = None,
    calibrate: float = 0.5,
    seed: int = 0,
) -> BudgetPlan:
    """Return the most accurate plan within a budget, or the cheapest plan that loses little accuracy.

    The prices say what is for sale; what has no price is free:

    - `{"sample": 1}`, the default: when to stop sampling, or with several sources how many samples to draw from each.
      A budget of 8 is a mean of 8 samples per question.
    - `{"gpt": 10, "llama": 0.1}`, per million tokens (the pool is read with `source=` and `tokens=True`), or
      `{"sample": "cost"}` for a column of costs (`tokens="cost"`): which source to ask first, and when to ask another.
      The budget may be a share of what the best single source costs, as `"65%"`.
    - `{"sample": 1, "score": 0.2}`: how many samples to draw, and which of them to score. Sources may have prices here,
      too, and `"score:gpt"` is the price of a score of one source. A text is scored once where the pool has texts
      (`texts=True`).
    - `{"score": 0.0015}` without a budget: which responses to score, if a score is worth that much accuracy.

    The budget is a mean cost per question. `loss` is the accuracy to lose at most against buying everything: 0.01 is
    one point. The share `calibrate` of the questions fits the method and chooses the plan; the others measure it. The
    method is a name or an object, by default `calibrated`, or `committee` for several sources. A fitted method votes as
    it is; it must be fitted on other questions.

    >>> import steelyard as sy
    >>> result = plan_budget(sy.read_labelled(sy.simulate(100, 4)), sy.VanillaVote(), budget=2)
    >>> result.figures["cost"] <= 2.5, result.table.columns[0], result.explain().split()[0] in ("Stop", "Do")
    (True, 'budget', True)
    """
    if not isinstance(pool, Pool):
        raise SettingError(
            f"plan_budget takes a pool, not a {type(pool).__name__}: read it with steelyard.read_labelled"
        )
    table = PriceTable.of(prices)
    table.check_goal(budget, loss)
    _check_costs(pool, table)
    voter = _method(method, pool)
    refit = voter.fitted_on_ is None
    options: dict[str, Any] = {"calibrate": calibrate, "seed": seed}
    if table.sells_scores:
        if not refit:
            raise SettingError(
                "where scores have a price, a method is fitted here for every number of samples: give one that is not "
                f"fitted, as {argument('method', 'calibrated')}"
            )
        return _with_scores(pool, voter, table, None if budget is None else float(budget), options)
    if table.by_source:
        sources = table.sources or None
        return plan_cascade(pool, voter, sources, budget=budget, loss=loss, refit=refit, **options)
    price = 1.0 if table.sample is None else table.sample
    if not price:
        raise SettingError("samples are free and nothing else has a price: there is nothing to save, so take all")
    if voter.weighs_sources and budget is not None and refit and len(pool.sources) > 1:
        return plan_committee(pool, voter, price_sample=price, price_score=None, budget=float(budget), **options)
    if voter.weighs_sources:
        raise SettingError(_no_stopping(voter, pool))
    samples = None if budget is None else float(budget) / price
    if samples is not None and not 1 <= samples <= pool.n:
        raise SettingError(
            f"a budget of {budget} buys {samples:g} samples per question: give one for between 1 and {pool.n}, the "
            "samples of these questions"
        )
    return plan_stopping(pool, voter, samples=samples, loss=loss, refit=refit, price=price, **options)


def _method(method: object, pool: Pool) -> Method:
    """Return the method to plan for: an object, one by name, or the default for the pool."""
    if method is None:
        return method_class(default_method(pool))()
    if isinstance(method, str):
        return method_class(method)()
    if isinstance(method, type) and issubclass(method, Method):
        raise SettingError(f"{method.__name__} is a class: pass a method, as {method.__name__}()")
    if not isinstance(method, Method):
        raise SettingError(f"{method!r:.80} is not a method: pass its name, as 'calibrated', or a method object")
    return method


def _check_costs(pool: Pool, table: PriceTable) -> None:
    """Refuse a pool whose tokens were read from another column than the prices are for."""
    column = pool.origin.tokens
    if table.column is not None and pool.tokens is None:
        raise SettingError(f"the pool has no costs: read the table with tokens={table.column!r}")
    if table.column is not None and column not in (None, table.column):
        raise SettingError(
            f"the prices name the column {table.column!r}, and the pool was read with {column!r}: read the "
            f"table with tokens={table.column!r}"
        )
    if table.sources and column not in (None, TOKENS, RESPONSE):
        raise SettingError(
            f"prices of sources are per million tokens, and the pool was read with tokens={column!r}, a column of "
            f"costs: read the table with tokens=True, or give prices={{'sample': {column!r}}}"
        )


def _no_stopping(voter: Method, pool: Pool) -> str:
    """Say why a method that weighs sources has no stopping rule, and what to do instead."""
    if len(pool.sources) < 2:
        return (
            f"{voter.name} weighs sources, and these responses do not have two: use {argument('method', 'calibrated')}"
        )
    prices = ",".join(f"{name}={price}" for name, price in zip(pool.sources, (10, 0.1), strict=False))
    return (
        f"{voter.name} asks its {len(pool.sources)} sources at once, so it has no sample to stop at: give a "
        f"budget of samples and a method that is not fitted, or prices by source (per million tokens), as {prices}, to "
        "learn which source to ask first"
    )


def _with_scores(
    pool: Pool, method: Method, table: PriceTable, budget: float | None, options: dict[str, Any]
) -> BudgetPlan:
    """Plan for scores, with the samples of one LLM or of several sources."""
    if not pool.sources and (table.by_source or table.score_of):
        raise SettingError(f"these are prices of sources: read the table with {argument('source', 'llm')}")
    score = table.score_prices(pool.sources)
    if budget is None:
        return plan_scores(pool, method, price=table.score or 0.0, **options)
    sample = table.sample if table.by_source else table.sample or 0.0
    if len(pool.sources) > 1:
        prices = table.sources or None
        paid: dict[str, Any] = {"price_sample": sample, "price_score": score}
        return plan_committee(pool, method, prices, **paid, budget=budget, **options)
    if pool.sources:
        costs = priced(need_labels(pool), table.sources or None, sample, score)
        sample, score = float(costs.sample[0]), float(costs.score[0])
        pool = pool.without_sources()
        method = method_class("calibrated")() if method.weighs_sources else method
        warnings.warn(
            f"all responses are of {costs.pool.sources[0]}, so the plan is for one LLM; a sample costs {sample:.4g}",
            SteelyardNote,
            stacklevel=3,
        )
    if sample is None or isinstance(score, dict):
        raise AssertionError("prices by source for a pool without sources")
    return plan_samples_and_scores(pool, method, price_sample=sample, price_score=score, budget=budget, **options)
