"""Where the committee does not win, in words that are computed from the figures."""

from __future__ import annotations

from typing import Any

import polars as pl

from docs.committees.sets import TITLES

CLEAR = 1.96  # standard errors
OTHERS = {"best": "the best single LLM", "consensus": "the consensus without labels", "majority": "majority vote"}
NAMES = {
    "committee": "the committee",
    "few-label": "the committee that knows all answers",
    "consensus": "the consensus without labels",
}


def losses(labels: pl.DataFrame, sizes: pl.DataFrame, best: pl.DataFrame) -> str:
    """One line for every set, way and rival that is not clearly beaten everywhere."""
    lines = []
    few = sizes.filter(pl.col("llms") < pl.col("llms").max().over("set"))
    parts = (
        (labels, "labels", "with {} labels"),
        (few, "llms", "in random committees of {} LLMs"),
        (best.filter(llms="without the best"), "llms", "{}"),
    )
    for table, by, where in parts:
        for name, title in TITLES.items():
            for way, spoken in NAMES.items():
                part = table.filter(set=name, way=way)
                lines += [f"- {title}: {line}" for line in _against(part, by, where, spoken)]
    return "\n".join(lines) or "It is clearly better than each rival in every row above."


def _against(part: pl.DataFrame, by: str, where: str, spoken: str) -> list[str]:
    """What is not clearly won against each rival."""
    lines = []
    rows = list(part.iter_rows(named=True))
    for column, other in OTHERS.items():
        if other == spoken:
            continue
        worse = [_place(row, by, column) for row in rows if _lead(row, column) < -CLEAR]
        level = [_place(row, by, column) for row in rows if abs(_lead(row, column)) <= CLEAR]
        if worse:
            lines.append(f"{spoken} is clearly worse than {other} {where.format(_joined(worse))}.")
        if level:
            lines.append(f"{spoken} is not clearly better than {other} {where.format(_joined(level))}.")
    return lines


def _lead(row: dict[str, Any], column: str) -> float:
    """The lead over a rival in standard errors; 0 where they never differ."""
    error = float(row[f"over_{column}_se"])
    return float(row[f"over_{column}"]) / error if error > 0 else 0.0


def _place(row: dict[str, Any], by: str, column: str) -> str:
    return f"{row[by]} ({100 * row[f'over_{column}']:+.1f})"


def _joined(places: list[str]) -> str:
    return places[0] if len(places) == 1 else f"{', '.join(places[:-1])} and {places[-1]}"
