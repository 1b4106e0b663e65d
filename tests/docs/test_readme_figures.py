"""The figures of the README are those that docs/accuracy measured and stored."""

from __future__ import annotations

from pathlib import Path

import polars as pl

ROOT = Path(__file__).parents[2]
STORED = ROOT / "docs" / "accuracy"
README = " ".join((ROOT / "README.md").read_text().split())


def test_the_gain_on_the_grid_and_its_significance() -> None:
    mean = pl.read_csv(STORED / "means.csv").row(
        by_predicate=(pl.col("group") == "grid") & (pl.col("calibration") == 50) & (pl.col("method") == "calibrated"),
        named=True,
    )
    assert f"+{100 * mean['gain']:.1f} ± {100 * mean['gain_se']:.1f} points over majority vote" in README
    pairs = pl.read_csv(STORED / "gains.csv").filter(group="grid", calibration=50, method="calibrated")
    significant = pairs.filter(pl.col("gain") > 1.96 * pl.col("gain_se"), pl.col("gain_se") > 0).height
    assert f"the mean over {pairs.height} pairs" in README
    assert f"significant in {significant} of the {pairs.height}" in README
    assert pairs.filter(pl.col("gain") < -1.96 * pl.col("gain_se")).is_empty()
    assert pairs.filter(gain=0).height > (pairs.height - significant) / 2  # "most of the others"


def test_the_gain_on_real_sets() -> None:
    stored = pl.read_csv(STORED / "harm.csv").filter(labels=50, scores="as they are")
    rows = {row["set"]: row for row in stored.iter_rows(named=True)}
    prm = rows["MATH-500 x PRM"]
    assert f"+{prm['gain']:.1f} ± {prm['se']:.1f} points for a process reward model on MATH-500" in README
    assert all(abs(rows[f"{name} x length"]["gain"]) < 0.05 for name in ("GPQA", "MATH-500"))
