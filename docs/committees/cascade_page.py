"""The part of the page about cascades, from the stored table alone."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

import polars as pl

from docs.accuracy.page import markdown
from docs.committees.cascades import PRICES, SPLITS
from docs.committees.measuring import USUAL

HERE = Path(__file__).parent
WIDE = 130
GOALS = (  # most cost, least lead over the best single LLM, in words
    (0.65, -0.005, "within half a point of the best single LLM, at 65 % of its cost or less"),
    (1.5, 0.01, "a point above it or more, at 150 % of its cost or less"),
)


def cascade_part(table: pl.DataFrame) -> str:
    """The whole part."""
    best = _rows(table, "best single")[0]
    return (
        (HERE / "cascades.md")
        .read_text()
        .strip()
        .format(
            labels=USUAL,
            splits=len(SPLITS),
            best=best["llm"],
            best_accuracy=f"{100 * best['accuracy']:.1f}",
            prices=fill(", ".join(f"{name} {price:g}" for name, price in PRICES.items()) + ".", WIDE),
            headline=headline(table),
            table=costs(table),
            goals="\n".join(f"| {words} | {found} | {said} |" for words, found, said in goals(table)),
            why=why(table),
        )
    )


def headline(table: pl.DataFrame) -> str:
    """What a cascade buys, in a sentence."""
    everyone = _rows(table, "everyone")[0]
    enough = [row for row in _rows(table, "cascade") if row["accuracy"] >= everyone["accuracy"] - 0.0005]
    cheap = min(enough, key=lambda row: float(row["cost"]), default=None)
    if cheap is None:
        return "**No cascade is as accurate as everyone.**"
    return (
        f"**Asking everyone has {100 * everyone['accuracy']:.1f} % at {_cost(everyone)}; a cascade has "
        f"{100 * cheap['accuracy']:.1f} % at {_cost(cheap)}, {100 * cheap['cost'] / everyone['cost']:.0f} % of that.**"
    )


def costs(table: pl.DataFrame) -> str:
    """Accuracy over cost, random routing beside it."""
    lots = {row["budget"]: row for row in _rows(table, "random routing")}
    rows = [
        [f"cascade, budget {100 * row['budget']:.0f} %", *_cells(row), f"{100 * lots[row['budget']]['accuracy']:.1f}"]
        for row in _rows(table, "cascade")
    ]
    for policy in ("cheapest single", "best single", "everyone"):
        row = _rows(table, policy)[0]
        rows.append([", ".join(filter(None, (policy, row["llm"]))), *_cells(row), ""])
    return markdown(["policy", "cost", "accuracy", "against the best single LLM", "random routing"], rows)


def goals(table: pl.DataFrame) -> list[tuple[str, str, str]]:
    """Every goal, what the cascade of that budget has, and whether that is enough."""
    found = []
    for most, least, words in GOALS:
        row = next(row for row in _rows(table, "cascade") if row["budget"] == most)
        met = row["cost"] <= most and row["over_best"] >= least
        found.append((words, f"{_points(row)} points at {_cost(row)}", "met" if met else "**missed**"))
    return found


def why(table: pl.DataFrame) -> str:
    """Why a goal is missed, by what hindsight could do; nothing where all are met."""
    if all(said == "met" for _, _, said in goals(table)):
        return ""
    said = [f"{_points(row)} points at {_cost(row)}" for row in _rows(table, "hindsight")]
    words = (
        "Hindsight misses it too. Choose, by the labels of the test questions themselves, the best group of up to four "
        "cheap LLMs to ask first and the best confidence below which to ask the best LLM: that has "
        f"{', '.join(said)}. With weights from {USUAL} labels, the cheap LLMs do not tell well enough where they are "
        "wrong together, so no threshold on their confidence can."
    )
    return fill(words, WIDE)


def _rows(table: pl.DataFrame, policy: str) -> list[dict[str, Any]]:
    return table.filter(policy=policy).to_dicts()


def _cells(row: dict[str, Any]) -> list[str]:
    lead = "" if row["policy"] == "best single" else _points(row)
    return [_cost(row), f"{100 * row['accuracy']:.1f} ± {100 * row['se']:.1f}", lead]


def _points(row: dict[str, Any]) -> str:
    return f"{round(100 * row['over_best'], 1) + 0.0:+.1f} ± {100 * row['over_best_se']:.1f}"


def _cost(row: dict[str, Any]) -> str:
    return f"{100 * row['cost']:.{0 if row['cost'] > 0.02 else 1}f} %"
