"""The tables of the page about rules without labels, several verifiers and lengths, from the stored figures."""

from __future__ import annotations

from typing import Any

import polars as pl

from docs.accuracy.page import markdown
from docs.committees.scores import ALIKE, COVARIANCE, MEAN
from docs.committees.sets import SAMPLES, TITLES

LENGTH_TITLES = TITLES | {"grid": f"bundled grid, 5 LLMs, {SAMPLES} samples each"}


def rules(table: pl.DataFrame) -> str:
    """The rules of the consensus by number of LLMs, the best in bold."""
    ways = table["way"].unique(maintain_order=True).to_list()
    rows = []
    for (name, size), part in table.group_by("set", "llms", maintain_order=True):
        found = {row["way"]: row for row in part.iter_rows(named=True)}
        best = max(row["accuracy"] for row in found.values())
        cells = [_bold(found[way], best) for way in ways]
        rows.append([TITLES[str(name)], str(size), *cells, *(_lead(found[way], "behind") for way in ways[2:])])
    heads = ["", "LLMs", *(f"`{way}`" for way in ways), *(f"agreement leads {way} by" for way in ways[2:])]
    return markdown(heads, rows, text=2)


def mixes(table: pl.DataFrame) -> str:
    """Ways to make one score of several, with all verifiers and without the two best."""
    rows = []
    for (which,), part in table.group_by("verifiers", maintain_order=True):
        for row in part.iter_rows(named=True):
            lead = "" if row["way"] == MEAN else _lead(row, "gain")
            rows.append([str(which), row["way"], f"{100 * row['accuracy']:.1f} ± {100 * row['se']:.1f}", lead])
    return markdown(["verifiers", "score", "accuracy", "over the mean of logits"], rows, text=2)


def mixed(table: pl.DataFrame) -> str:
    """What the covariance gains, in words."""
    said = []
    for (which,), part in table.group_by("verifiers", maintain_order=True):
        at = {row["way"]: row["accuracy"] for row in part.iter_rows(named=True)}
        over = [100 * (at[COVARIANCE] - at[way]) for way in (MEAN, ALIKE)]
        said.append(f"{which}: {over[0]:+.1f} points over the mean of logits, {over[1]:+.1f} over equal parts as steep")
    return "; ".join(said)


def lengths(table: pl.DataFrame) -> str:
    """What length adds, in points."""
    ways = table["way"].unique(maintain_order=True).to_list()
    rows = []
    for name, title in LENGTH_TITLES.items():
        found = {row["way"]: row for row in table.filter(set=name).iter_rows(named=True)}
        rows.append([title, *(_lead(found[way], "gain") for way in ways)])
    return markdown(["", *ways], rows)


def _lead(row: dict[str, Any], column: str) -> str:
    return f"{100 * row[column]:+.1f} ± {100 * row[f'{column}_se' if f'{column}_se' in row else 'se']:.1f}"


def _bold(row: dict[str, Any], best: float) -> str:
    mark = "**" if row["accuracy"] == best else ""
    return f"{mark}{100 * row['accuracy']:.1f}{mark} ± {100 * row['se']:.1f}"
