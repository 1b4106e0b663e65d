"""The answers of a ballot as bars: how likely each is, or what weight it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.foundation.charts.answer_bars import answer_bars
from steelyard.foundation.charts.chart_style import check_charts, reserve_colour
from steelyard.foundation.charts.figures import figure
from steelyard.voting.answer_values import answer_values, value_kind
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.pool import Pool

if TYPE_CHECKING:
    import altair as alt

SHOWN = 12  # answers, those with the most first
LONGEST = 40  # characters of an answer
TITLES = {
    "probability": "probability that the answer is correct",
    "weight": "weight of the responses, for (colour) and against (grey)",
    "share": "share of all positive weight",
}


def plot_answers(method: Method, pool: Pool, *, subtitle: str) -> alt.LayerChart:
    """Draw the answers of a pool with one question, best first."""
    check_charts()
    kind, one = value_kind(method), answer_values(method, pool)[0]
    winner = int(method.decide(pool).code[0])
    total = one.value + one.against
    order = sorted(np.flatnonzero(one.votes > 0).tolist(), key=lambda code: (code != winner, -total[code]))
    names = [str(name) for name in pool.names] if pool.names is not None else [str(i) for i in range(len(total))]
    rows: list[dict[str, Any]] = [
        {
            "answer": names[code],
            "votes": int(one.votes[code]),
            "value": float(one.value[code]),
            "against": float(one.against[code]),
            "won": code == winner,
        }
        for code in order[:SHOWN]
    ]
    if one.none is not None:
        rows.append({"answer": "none of these", "votes": None, "value": one.none, "against": 0.0, "won": False})
    labelled = [row | {"label": _unique(row["answer"], i)} for i, row in enumerate(rows)]
    left = len(order) - SHOWN
    more = f"; {left} more answers are not shown" if left > 0 else ""
    spec = answer_bars(
        labelled, method.colour or reserve_colour(method.name), title=TITLES[kind], percent=kind != "weight"
    )
    return figure(spec, title=f"Answers by the {method.name} vote", subtitle=subtitle + more)


def _unique(answer: str, number: int) -> str:
    """An answer that fits the axis; invisible characters make cut ones different."""
    plain = "".join(char if char.isprintable() else " " for char in answer)
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…" + "\u200b" * number
