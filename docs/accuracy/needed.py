"""How many samples reach what vanilla needs all 64 for."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from docs.accuracy.cells import SEEDS, split
from steelyard.evaluation.matching_compute import compute_to_match
from steelyard.voting.fitting.score_quality import auroc_within

MATCHED = ("logit", "calibrated")
GOOD = 0.8  # AUROC within questions
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


def samples_needed(resamples: int = 3) -> pl.DataFrame:
    """The share of the 64 samples at which a method reaches what vanilla has with all: a row a pair, and averages."""
    rows: list[dict[str, Any]] = []
    pairs: dict[str, list[sy.evaluation.Curves]] = {"all pairs": [], "good verifiers": [], "poor verifiers": []}
    llms, verifiers = sy.paper.grid_names()
    for llm in llms:
        for verifier in verifiers:
            pool = sy.paper.load_grid(llm, verifier)
            test, by_size = split(pool, SEEDS[0])
            found = sy.evaluation.curves(
                ["vanilla", *MATCHED], by_size[400], test, n=SIZES, resamples=resamples, seed=SEEDS[0]
            )
            within = auroc_within(pool)
            pairs["all pairs"].append(found)
            pairs["good verifiers" if within >= GOOD else "poor verifiers"].append(found)
            rows.append({"pair": f"{llm}/{verifier}", "within": within, **_matched([found])})
    averages = [{"pair": name, "within": None, **_matched(some)} for name, some in pairs.items()]
    return pl.DataFrame([*averages, *rows], infer_schema_length=None)


def _matched(found: list[sy.evaluation.Curves]) -> dict[str, float | None]:
    row: dict[str, float | None] = {"vanilla": float(np.mean([curve.accuracy[-1, 0] for curve in found]))}
    for name in MATCHED:
        match = compute_to_match(found, name, "vanilla", seed=0)
        row |= {name: match.fraction, f"{name}_low": match.fraction_low, f"{name}_high": match.fraction_high}
    return row


def with_stopping() -> pl.DataFrame:
    """The same when each question stops when its rule says so: the rule is chosen on the calibration questions."""
    rows: list[dict[str, Any]] = []
    llms, verifiers = sy.paper.grid_names()
    for llm in llms:
        for verifier in verifiers:
            pool = sy.paper.load_grid(llm, verifier)
            test, by_size = split(pool, SEEDS[0])
            found = {row["way"]: row for row in sy.evaluation.samples_needed(by_size[400], test).iter_rows(named=True)}
            row: dict[str, Any] = {"pair": f"{llm}/{verifier}", "within": auroc_within(pool)}
            for way in ("fixed", "chosen"):
                row |= {way: found[way]["samples"], f"{way}_low": found[way]["low"], f"{way}_high": found[way]["high"]}
            rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)
