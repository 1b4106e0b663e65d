"""What samples and scores of several LLMs are worth together: all LLMs of the grid, one verifier at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

import steelyard as sy
from docs.accuracy.cells import SEEDS, split
from docs.accuracy.frugal import LABELS, good_pairs
from docs.accuracy.page import markdown
from steelyard.evaluation.plan_committee import plan_from_split
from steelyard.evaluation.source_prices import PricedPool, priced
from steelyard.tables.sources.bundled_grid import grid_texts, open_grid

SAMPLES = 8  # of each LLM
BEST = "smol-much"
ALIKE, BY_SIZE = "alike", "by size"  # one price for every sample and score; by parameters x tokens
BUDGETS = {ALIKE: (4, 8, 16, 32, 64), BY_SIZE: (1, 2, 4, 8, 16)}
MILLIONS = {"tiny-scratch": 12.9}  # parameters; the other LLMs have:
LARGE, VERIFIER = 106.7, 29.9


def committees() -> pl.DataFrame:
    """One row a price, verifier and budget: what is bought, what it costs and gives, and its rivals."""
    return pl.DataFrame(list(_rows()), infer_schema_length=None)


def _rows() -> Iterator[dict[str, Any]]:
    for verifier in (name for name in sy.paper.grid_names()[1] if not name.startswith("self")):
        pool = _pool(verifier)
        for prices, whole in ((ALIKE, priced(pool, None, 1, 1)), (BY_SIZE, by_size(pool))):
            test, cal = split(whole.pool, SEEDS[0])
            learned, other = (PricedPool(part, whole.score) for part in (cal[LABELS], test))
            found = plan_from_split(learned, other, sy.CommitteeVote(), BUDGETS[prices][-1], BUDGETS[prices])
            for row in found.table.drop("chosen").iter_rows(named=True):
                samples, scores, scored = (row.pop(name) for name in ("samples", "scores", "scored"))
                counts = {"n": sum(samples.values()), "scores": sum(scores.values()), "llms": _count(samples)}
                yield {"prices": prices, "verifier": verifier, **row, **counts, "scored_llms": len(scored)}


def _pool(verifier: str) -> sy.LabelledPool:
    """The first samples of all LLMs, scored by a verifier; equal texts are known to be equal."""
    tables = []
    for llm in sy.paper.grid_names()[0]:
        rows = open_grid(f"grid:{llm}/{verifier}").filter(pl.col("sample") < SAMPLES).collect()
        tables.append(rows.join(grid_texts(llm), on=["question", "sample", "llm"], maintain_order="left"))
    return sy.read_labelled(pl.concat(tables), source="llm", score=verifier, tokens=True, texts=True)


def by_size(pool: sy.LabelledPool) -> PricedPool:
    """Prices by compute, parameters x tokens, where a sample of the best LLM costs 1 on average."""
    if pool.source is None or pool.tokens is None:
        raise AssertionError("the grid has LLMs and tokens")
    tokens = {name: float(pool.tokens[pool.source == s].mean()) for s, name in enumerate(pool.sources)}
    unit = LARGE * tokens[BEST]
    prices = {name: 1e6 * MILLIONS.get(name, LARGE) / unit for name in pool.sources}
    return priced(pool, prices, None, {name: VERIFIER * tokens[name] / unit for name in pool.sources})


def _count(samples: dict[str, int]) -> int:
    return sum(n > 0 for n in samples.values())


def committee_table(found: pl.DataFrame, single: pl.DataFrame, needed: pl.DataFrame, prices: str) -> str:
    """Means over verifiers that are good for the best LLM, and over the others, by budget."""
    good, rows = {pair.partition("/")[2] for pair in good_pairs(needed) if pair.startswith(f"{BEST}/")}, []
    for title, inside in (("good verifiers", True), ("poor verifiers", False)):
        here = found.filter(pl.col("verifier").is_in(list(good)) == inside, prices=prices)
        for budget in BUDGETS[prices]:
            part = here.filter(budget=budget)
            mean = {name: float(part[name].to_numpy().mean()) for name in part.columns if part[name].dtype.is_numeric()}
            cells = [
                f"{budget}",
                f"{mean['cost']:.1f}",
                f"{mean['n']:.1f} + {mean['scores']:.1f}",
                f"{mean['llms']:.1f}",
            ]
            cells += [str(part["margin"].drop_nulls().len())]
            cells += [f"{100 * mean[name]:.1f}" for name in ("accuracy", "majority", "single_accuracy")]
            cells += [f"{100 * mean[name]:+.1f} ± {100 * mean[f'{name}_se']:.1f}" for name in ("gain", "over_single")]
            cells += [f"{(part['gain_high'] < 0).sum()}, {(part['over_single_high'] < 0).sum()}"]
            if prices == ALIKE:
                pairs = [f"{BEST}/{verifier}" for verifier in part["verifier"]]
                alone = single.filter(pl.col("pair").is_in(pairs), budget=budget)["accuracy"].to_numpy().mean()
                cells += [f"{100 * alone:.1f}"]
            rows.append([f"{title} ({part.height})", *cells])
    heads = ["", "budget", "spent", "samples + scores", "LLMs", "verifiers asked", "accuracy", "majority of all"]
    heads += ["best LLM", "over majority", "over the best LLM", "behind"]
    return markdown([*heads, f"`{BEST}` with scores"] if prices == ALIKE else heads, rows)
