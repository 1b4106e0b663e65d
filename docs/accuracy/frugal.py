"""What asking the verifier on demand saves and costs, on every pair of the grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

import steelyard as sy
from docs.accuracy.cells import SEEDS, split
from docs.accuracy.page import markdown
from steelyard.evaluation.scores_on_demand import PRICE, evaluate_frugal

LABELS = 200
GOOD = 0.8  # AUROC within questions
LITTLE = 0.1  # scored, where nothing is to be gained
RULES = ("exact", "expected")
READ = {True: "equal texts once", False: "every response"}


def frugal(llms: Sequence[str] | None = None, seed: int = SEEDS[0]) -> pl.DataFrame:
    """One row a pair, rule and way of reading: what is read, and what the verdicts are worth."""
    return pl.DataFrame(list(_rows(llms or sy.paper.grid_names()[0], seed)))


def _rows(llms: Sequence[str], seed: int) -> Iterator[dict[str, Any]]:
    verifiers = sy.paper.grid_names()[1]
    for llm in llms:
        for verifier in (name for name in verifiers if not name.startswith("self")):
            pool = sy.read_labelled(f"grid:{llm}/{verifier}", texts=True)
            for once in READ:
                test, by_size = split(pool if once else replace(pool, text=None), seed)
                for rule in RULES:
                    row = evaluate_frugal(["calibrated"], by_size[LABELS], test, rule).row(0, named=True)
                    row.pop("advice")
                    yield {"pair": f"{llm}/{verifier}", "once": once, **row}


def good_pairs(needed: pl.DataFrame) -> set[str]:
    """The pairs whose verifier tells correct from incorrect responses to the same question."""
    return set(needed.filter(pl.col("pair").str.contains("/") & (pl.col("within") >= GOOD))["pair"])


def frugal_table(found: pl.DataFrame, needed: pl.DataFrame) -> str:
    """Means over good and over poor verifiers, by rule and way of reading."""
    good = good_pairs(needed)
    rows = []
    for title, inside in (("good verifiers", True), ("poor verifiers", False)):
        here = found.filter(pl.col("pair").is_in(good) == inside)
        for rule in RULES:
            for once, read in READ.items():
                part = here.filter(rule=rule, once=once)
                gain, whole = (part[name].to_numpy().mean() for name in ("gain", "gain_all_scores"))
                apart = (part["ece"] - part["ece_all_scores"]).to_numpy().mean()
                kept = f"{gain / whole:.0%}" if inside else ""
                scored = part["scored"].to_numpy()
                cells = [
                    f"{scored.mean():.1%}",
                    f"{scored.max():.1%}",
                    f"{100 * gain:+.2f}",
                    f"{100 * whole:+.2f}",
                    kept,
                ]
                changed = f"{part['changed'].to_numpy().mean():.1f}"
                rows.append([f"{title} ({part.height})", f"`{rule}`", read, *cells, changed, f"{apart:+.3f}"])
    heads = ["", "rule", "read", "scored", "most on a pair", "gain", "with all scores", "kept", "changed", "ECE"]
    return markdown(heads, rows, text=3)


def still_read(found: pl.DataFrame, needed: pl.DataFrame) -> str:
    """The poor verifiers of which `expected` reads more than it should where nothing is to be gained."""
    poor = found.filter(~pl.col("pair").is_in(good_pairs(needed)), pl.col("scored") > LITTLE, rule="expected")
    rows = []
    for row in poor.sort("once", "scored", descending=True).iter_rows(named=True):
        scores = row["scored"] * row["n"]
        gain = f"{100 * row['gain']:+.2f} ± {100 * row['gain_se']:.2f}"
        cells = [f"{row['scored']:.1%}", f"{scores:.1f}", f"{100 * PRICE * scores:.2f}", gain]
        rows.append([row["pair"], READ[row["once"]], *cells, f"{100 * row['gain_all_scores']:+.2f}"])
    heads = ["pair", "read", "scored", "scores per question", "their price", "gain", "with all scores"]
    return markdown(heads, rows, text=2)
