"""The curve of a committee's accuracy over its cost: what each budget buys, beside majority vote for the same cost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from steelyard.evaluation.accuracy import estimates
from steelyard.evaluation.committee_rivals import Rivals
from steelyard.evaluation.committee_ways import Way
from steelyard.evaluation.joint_search import at_cost


def curve_rows(
    ways: Sequence[tuple[float, Way, Way]], rivals: Rivals, names: tuple[str, ...], seed: int
) -> list[dict[str, Any]]:
    """One row a budget: what is bought, its cost and accuracy, and the rivals for as much and for the whole budget."""
    columns, singles = [], []
    for budget, learned, way in ways:
        single = rivals.single(learned.mean)
        ladders = rivals.everybody, rivals.alone(single)
        same = [at_cost(each, way.mean) for each in ladders]
        whole = [at_cost(each, max(budget, way.mean)) for each in ladders]
        columns += [way.cost, way.correct, *same, *(way.correct - each for each in same), *whole]
        singles.append(names[single])
    found = iter(estimates(np.stack(columns, axis=1), seed=seed))
    rows = []
    for (budget, _, way), name in zip(ways, singles, strict=True):
        cost, accuracy, majority, alone, gain, over, *whole_budget = islice(found, 8)
        row: dict[str, Any] = {"budget": float(budget), "buys": way.bought.described(names), "method": way.method}
        row |= {"margin": way.margin}
        row |= {"samples": dict(zip(names, way.bought.samples, strict=True))}
        row |= {"scored": [each for each, flag in zip(names, way.bought.scored, strict=True) if flag]}
        row |= {"scores": dict(zip(names, way.scores.mean(axis=0).tolist(), strict=True))}
        row |= {"cost": float(cost), "cost_se": cost.se}
        row |= {"accuracy": float(accuracy), "se": accuracy.se, "low": accuracy.low, "high": accuracy.high}
        row |= {"majority": float(majority), "single": name, "single_accuracy": float(alone)}
        for what, each in (("gain", gain), ("over_single", over)):
            row |= {what: float(each), f"{what}_se": each.se, f"{what}_low": each.low, f"{what}_high": each.high}
        row |= {"majority_whole_budget": float(whole_budget[0]), "single_whole_budget": float(whole_budget[1])}
        rows.append(row)
    return rows
