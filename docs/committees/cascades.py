"""Cascades of eleven LLMs on MATH level 5: accuracy over cost, against the best LLM alone.

The prices are dollars per million tokens of output in the lists of 2024, rounded; those of models that think are
multiplied by 4 for tokens that are not in the text. Tokens are characters / 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

import steelyard as sy
from docs.committees.cells import Outcome, mean_and_error
from docs.committees.measuring import USUAL
from steelyard.evaluation.budget_plan import random_mixture
from steelyard.evaluation.cascade_fitting import FOLDS, CascadeFitter
from steelyard.evaluation.plan_cascade import costs_of
from steelyard.evaluation.source_prices import source_costs
from steelyard.voting.fitting.answer_odds import Panel, fit_odds, is_correct, leading
from steelyard.voting.fitting.folds import fold_of

PRICES = {
    "Meta-Llama-3.1-8B-Instruct": 0.1,
    "Qwen2.5-7B-Instruct": 0.1,
    "deepseek-v2.5-0908": 0.28,
    "gemini-1.5-flash-exp-0827": 0.3,
    "gpt-4o-mini-2024-07-18": 0.6,
    "Qwen2.5-72B-Instruct": 0.9,
    "Mistral-Large-2": 6.0,
    "gpt-4o-2024-08-06": 10.0,
    "claude-3-5-sonnet-20240620": 15.0,
    "o1-mini-2024-09-12": 48.0,
    "o1-preview-2024-09-12": 240.0,
}
BUDGETS = (0.1, 0.35, 0.5, 0.65, 0.7, 0.75, 0.8, 1.0, 1.2, 1.5, 3.0)  # of what the best single LLM costs
SPLITS = range(5)
HINDSIGHT = (0.65, 0.7, 0.75)  # budgets at which thresholds are chosen on the test questions, to see what could be
CHEAP, MOST = 0.1, 4  # of the best LLM's cost; LLMs asked before it
SCHEMA = {
    "set": pl.String, "policy": pl.String, "llm": pl.String, "budget": pl.Float64, "cost": pl.Float64,
    "accuracy": pl.Float64, "se": pl.Float64, "over_best": pl.Float64, "over_best_se": pl.Float64,
}  # fmt: skip


class Paid(NamedTuple):
    """What a policy pays [Q], of the mean cost of the best LLM, what it decides correctly [Q], and whom it asks."""

    cost: Outcome
    correct: Outcome
    llm: str = ""  # of a single one


def cascades(name: str, pool: sy.LabelledPool) -> pl.DataFrame:
    """One row per policy and budget; no row for a set that does not know what a response costs."""
    if pool.tokens is None:
        return pl.DataFrame(schema=SCHEMA)
    part = pool.from_sources([each for each in pool.sources if each in PRICES])
    splits = [_split(part, {each: PRICES[each] for each in part.sources}, seed) for seed in SPLITS]
    rows: list[dict[str, Any]] = []
    for policy, budget in splits[0]:
        cells = [split[policy, budget] for split in splits]
        best = [split["best single", 0.0].correct for split in splits]
        accuracy, se = mean_and_error([cell.correct for cell in cells])
        over, over_se = mean_and_error([cell.correct - single for cell, single in zip(cells, best, strict=True)])
        row: dict[str, Any] = {"set": name, "policy": policy, "llm": " or ".join(sorted({c.llm for c in cells}))}
        row |= {"budget": budget, "cost": mean_and_error([c.cost for c in cells])[0]}
        rows.append(row | {"accuracy": accuracy, "se": se, "over_best": over, "over_best_se": over_se})
    return pl.DataFrame(rows, schema=SCHEMA)


def _split(pool: sy.LabelledPool, prices: dict[str, float], seed: int) -> dict[tuple[str, float], Paid]:
    """What every policy pays and gets on the test questions of one split; NaN at the labelled ones."""
    known = replace(pool, questions=np.asarray(pool.questions))
    cal, test = known.split(USUAL / pool.n_questions, seed=seed)
    places = {str(question): i for i, question in enumerate(known.questions.tolist())}
    at_cal, at_test = ([places[str(q)] for q in part.questions.tolist()] for part in (cal, test))
    cost = source_costs(pool, prices)
    search = CascadeFitter(Panel.of(cal), cost[at_cal], fold_of(cal, FOLDS, seed))
    panel, paid = Panel.of(test), cost[at_test]
    unit = float(paid[:, search.best].mean())
    found: dict[tuple[str, float], Paid] = {}
    for budget in BUDGETS:
        replayed = search.fit(budget * search.unit).replay(panel)
        correct = is_correct(panel, replayed.row).astype(np.float64)
        found["cascade", budget] = Paid(costs_of(replayed, paid) / unit, correct)
    whole = sy.CommitteeVote().fit(cal).predict(test.unlabelled()).correct(test).astype(np.float64)
    found["everyone", 0.0] = Paid(paid.sum(axis=1) / unit, whole)
    for policy, source in (("cheapest single", int(paid.mean(axis=0).argmin())), ("best single", search.best)):
        alone = is_correct(panel, search.single(source).replay(panel).row).astype(np.float64)
        found[policy, 0.0] = Paid(paid[:, source] / unit, alone, panel.names[source])
    ends = [
        (found[policy, 0.0].cost, found[policy, 0.0].correct)
        for policy in ("cheapest single", "best single", "everyone")
    ]
    for budget in BUDGETS:
        found["random routing", budget] = Paid(*random_mixture(float(found["cascade", budget].cost.mean()), ends))
    found |= {("hindsight", budget): _hindsight(search, panel, paid / unit, budget) for budget in HINDSIGHT}
    whole_set = pool.n_questions
    return {
        key: Paid(_placed(cell.cost, at_test, whole_set), _placed(cell.correct, at_test, whole_set), cell.llm)
        for key, cell in found.items()
    }


def _hindsight(search: CascadeFitter, panel: Panel, cost: NDArray[np.float64], budget: float) -> Paid:
    """Some cheap LLMs, then the best where they are less sure than a threshold: both chosen by the test labels."""
    best, tried = search.best, list[Paid]()
    cheap = [s for s in range(len(panel.names)) if cost[:, s].mean() < CHEAP]
    for first in (group for size in range(1, MOST + 1) for group in combinations(cheap, size)):
        early, late = (_verdicts(search, panel, group) for group in (first, tuple(sorted((*first, best)))))
        for threshold in np.unique(early[1]):
            asks = early[1] < threshold
            paid = cost[:, list(first)].sum(axis=1) + asks * cost[:, best]
            if paid.mean() <= budget:
                tried.append(Paid(paid, np.where(asks, late[0], early[0])))
    return max(tried, key=lambda each: float(each.correct.mean()))


def _verdicts(search: CascadeFitter, panel: Panel, asked: tuple[int, ...]) -> tuple[Outcome, Outcome]:
    """What these LLMs decide correctly on the test questions, and how sure they are, by the labelled ones."""
    found = leading(panel, list(asked), fit_odds(search.panel, list(asked)))
    return is_correct(panel, found.row).astype(np.float64), found.confidence


def _placed(values: Outcome, places: Sequence[int], questions: int) -> Outcome:
    whole = np.full(questions, np.nan)
    whole[places] = values
    return whole
