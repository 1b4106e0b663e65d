"""docs/mixing.md, made of the stored figures."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from docs.accuracy.page import markdown

HERE = Path(__file__).parent
NAMES = {"mean": "mean of the logits (of ranks)", "covariance": "`mix=covariance`"}


def text() -> str:
    """The page."""
    math, grid = pl.read_csv(HERE / "rewardmath.csv"), pl.read_csv(HERE / "grid.csv")
    few, free = _figure(math, "calibrated mix", 20), _figure(math, "covariance", 0)
    return (HERE / "template.md").read_text().format(
        few=few,
        fifty=_figure(math, "calibrated mix", 50),
        many=_figure(math, "calibrated mix", 100),
        single=_figure(math, "single verifier that the labels choose", 100),
        best=_figure(math, "best single verifier in hindsight", 0),
        free=free,
        mean=_figure(math, "mean", 0),
        grid_free=_figure(grid.filter(verifiers="all seven"), "covariance", 0),
        grid_mean=_figure(grid.filter(verifiers="all seven"), "mean", 0),
        grid_few=_figure(grid.filter(verifiers="all seven"), "calibrated mix", 20),
        rewardmath=_table(math, []),
        grid=_table(grid, ["verifiers"]),
    )  # fmt: skip


def _figure(table: pl.DataFrame, way: str, labels: int) -> str:
    row = table.filter(way=way, labels=labels).row(0, named=True)
    return f"{100 * row['accuracy']:.1f} ± {100 * row['se']:.1f}"


def _table(table: pl.DataFrame, keys: list[str]) -> str:
    rows = [
        [
            *(str(row[key]) for key in keys),
            NAMES.get(row["way"], row["way"]),
            str(row["labels"]),
            f"{100 * row['accuracy']:.1f} ± {100 * row['se']:.1f}",
            "" if row["agreement"] is None else f"{100 * row['agreement']:.0f}",
        ]
        for row in table.iter_rows(named=True)
    ]
    return markdown([*keys, "choice", "labels", "correct %", "halves agree %"], rows)
