"""The gains on the page, from the stored tables alone: averages, best and worst pairs, and how many gain or lose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from docs.accuracy.gains import BELOW, METHODS

GROUPS = {
    "grid": "the 35 pairs of the grid",
    "self": "self-assessments",
    "simulated": "simulated worlds",
    "shuffled": "control: scores dealt out at random",
    "inverted": "control: scores turned round",
}
SHOWN_SIZE = 200  # calibration questions of the tables that show one size
ENDS = (50, 400)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], text: int = 1) -> str:
    """A table whose first columns are text and the others numbers."""
    rule = ["---" if i < text else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def mean_gains(means: pl.DataFrame) -> str:
    """The mean gain over majority by group, calibration size and method, the best in bold."""
    rows = []
    methods = [name for name in METHODS if name != "majority"]
    for (group, size), part in means.group_by("group", "calibration", maintain_order=True):
        gain = {row["method"]: (100 * row["gain"], 100 * row["gain_se"]) for row in part.iter_rows(named=True)}
        best = max(mean for mean, _ in gain.values())
        marked = {name: f"**{mean:+.2f}**" if mean == best else f"{mean:+.2f}" for name, (mean, _) in gain.items()}
        cells = [f"{marked[name]} ± {gain[name][1]:.2f}" for name in methods]
        rows.append([GROUPS[str(group)], str(size), *cells])
    return markdown(["", "calibration questions", *methods], rows)


HEAD = ("mean gain", "best pool", "worst pool", "pools that gain", "pools that lose", "cells below")


def gains_by_method(gains: pl.DataFrame, means: pl.DataFrame) -> str:
    """Every method on the grid, calibrated on SHOWN_SIZE questions."""
    here = {"group": "grid", "calibration": SHOWN_SIZE}
    rows = [
        [f"`{method}`", *summary(gains.filter(**here, method=method), means.filter(**here, method=method))]
        for method in METHODS
    ]
    return markdown(["method", *HEAD], rows)


def gains_by_group(gains: pl.DataFrame, means: pl.DataFrame) -> str:
    """The default in every group, with the fewest and the most calibration questions."""
    rows = []
    for group, title in GROUPS.items():
        for size in ENDS:
            here = {"group": group, "calibration": size, "method": "calibrated"}
            rows.append([title, str(size), *summary(gains.filter(**here), means.filter(**here))])
    return markdown(["", "calibration questions", *HEAD], rows)


def summary(pools: pl.DataFrame, mean: pl.DataFrame) -> Iterator[str]:
    """One method on the pools of one group: mean, best and worst gain with errors, and the counts."""
    yield points(mean.row(0, named=True))
    ranked = pools.sort("gain", maintain_order=True)
    for place in (-1, 0):
        row = ranked.row(place, named=True)
        yield f"{points(row)} ({row['pool']})"
    for sign in (1, -1):
        yield f"{(sign * pools['gain'] > BELOW * pools['gain_se']).sum()} of {pools.height}"
    yield f"{pools['below'].sum()} of {pools['cells'].sum()}"


def points(row: dict[str, Any]) -> str:
    """A gain in points with its standard error."""
    return f"{100 * row['gain']:+.1f} ± {100 * row['gain_se']:.1f}"


def below_share(gains: pl.DataFrame, group: str, method: str) -> tuple[int, int]:
    """Cells significantly below the better of majority and vanilla, and all."""
    mine = gains.filter(group=group, method=method)
    return int(mine["below"].sum()), int(mine["cells"].sum())
