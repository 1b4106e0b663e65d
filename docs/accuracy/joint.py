"""What samples and scores are worth together at the same price, on every pair of the grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

import steelyard as sy
from docs.accuracy.cells import SEEDS, split
from docs.accuracy.frugal import LABELS, good_pairs
from docs.accuracy.page import markdown
from steelyard.evaluation.plan_samples_and_scores import plan_from_split
from steelyard.evaluation.price_table import UnitPrices

BUDGETS = (4, 8, 16, 32, 64, 128)


def joint(llms: Sequence[str] | None = None, seed: int = SEEDS[0]) -> pl.DataFrame:
    """One row a pair and budget: what is chosen, what it costs and gives, and its rivals."""
    return pl.DataFrame(list(_rows(llms or sy.paper.grid_names()[0], seed)), infer_schema_length=None)


def _rows(llms: Sequence[str], seed: int) -> Iterator[dict[str, Any]]:
    for llm in llms:
        for verifier in (name for name in sy.paper.grid_names()[1] if not name.startswith("self")):
            test, by_size = split(sy.read_labelled(f"grid:{llm}/{verifier}", texts=True), seed)
            found = plan_from_split(by_size[LABELS], test, sy.CalibratedVote(), UnitPrices(1, 1), BUDGETS[-1], BUDGETS)
            table = found.table.unique("budget", keep="first", maintain_order=True)  # a refused plan has another row
            for row in table.drop("chosen", "buys").iter_rows(named=True):
                yield {"pair": f"{llm}/{verifier}", **row}


def joint_table(found: pl.DataFrame, needed: pl.DataFrame) -> str:
    """Means over good and over poor verifiers, by budget."""
    good, rows = good_pairs(needed), []
    for title, inside in (("good verifiers", True), ("poor verifiers", False)):
        here = found.filter(pl.col("pair").is_in(good) == inside)
        for budget in BUDGETS:
            part = here.filter(budget=budget)
            mean = {name: part[name].to_numpy().mean() for name in part.columns if name not in ("pair", "margin")}
            asked = part["margin"].drop_nulls().len()
            cells = [str(budget), f"{mean['cost']:.1f}", f"{mean['n']:.1f} + {mean['scores']:.1f}", str(asked)]
            cells += [f"{100 * mean[name]:.1f}" for name in ("accuracy", "majority", "vanilla")]
            worst = (part["gain_high"] < 0).sum(), (part["over_vanilla_high"] < 0).sum()
            cells += [f"{worst[0]}, {worst[1]}"]
            cells += [f"{100 * mean[name]:.1f}" for name in ("majority_whole_budget", "vanilla_whole_budget")]
            rows.append([f"{title} ({part.height})", *cells])
    heads = ["", "budget", "spent", "samples + scores", "pairs that ask", "accuracy", "majority", "vanilla", "behind"]
    return markdown([*heads, "majority, whole budget", "vanilla, whole budget"], rows)
