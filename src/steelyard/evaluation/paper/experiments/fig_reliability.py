"""Figure 4, right: the error of the estimated q_M against that of a constant."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import polars as pl

from steelyard.evaluation.paper.experiment import Experiment, Finding
from steelyard.evaluation.paper.experiments._weight_functions import Values, global_function
from steelyard.evaluation.paper.measuring import splits
from steelyard.evaluation.paper.pair_grid import Grid, Pair, Settings
from steelyard.evaluation.paper.paper_tables import count
from steelyard.foundation.charts.chart_style import WIDTH
from steelyard.voting.fitting.llm_reliability import question_reliability
from steelyard.voting.method_colours import colour
from steelyard.voting.pools.pool import LabelledPool

ESTIMATED, CONSTANT = "estimated from scores", "constant"


def errors(cal: LabelledPool, test: LabelledPool) -> tuple[float, float]:
    """Mean absolute error of q_M over test questions: estimated from the scores, and as a constant."""
    vote, _ = global_function(cal)
    true = np.add.reduceat(test.correct.astype(np.float64), test.starts[:-1]) / test.sizes
    estimate = question_reliability(test, cast(Values, vote.shares_), vote.prior_share_)
    constant = float(cal.correct.mean())
    return float(np.abs(estimate - true).mean()), float(np.abs(constant - true).mean())


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    def one(pair: Pair) -> list[dict[str, Any]]:
        pairs = zip((ESTIMATED, CONSTANT), errors(*splits(pair.pool, settings)[0]), strict=True)
        return [{"llm": pair.llm, "verifier": pair.verifier, "source": name, "error": error} for name, error in pairs]

    return pl.DataFrame(grid.collect(settings, grid.prm, one))


def find(rows: pl.DataFrame) -> Finding:
    wide = rows.pivot("source", index=["llm", "verifier"], values="error")
    better = int((wide[ESTIMATED] < wide[CONSTANT]).sum())
    large = int((wide[ESTIMATED] > 0.2).sum())
    mean, fixed = (float(np.mean(wide[name].to_numpy())) for name in (ESTIMATED, CONSTANT))
    ours = (
        f"The mean absolute error of q_M is {mean:.2f} estimated from the scores and {fixed:.2f} for a constant; the "
        f"estimate is better in {better} of {count(wide.height, 'pair')}, and its error is above 0.2 in {large}."
    )
    holds = better > wide.height / 2 and large > wide.height / 2
    return Finding(f"Scores estimate q_M with an error of {mean:.2f}, a constant with {fixed:.2f}", ours, holds)


def draw(rows: pl.DataFrame) -> Any:
    import altair as alt

    mean = rows.group_by("verifier", "source", maintain_order=True).agg(pl.col("error").mean())
    order = mean["verifier"].unique(maintain_order=True).to_list()
    domain, colours = [ESTIMATED, CONSTANT], [colour("kde"), "#444444"]
    y = alt.Y("verifier:N", sort=order, title=None)
    x = alt.X(
        "error:Q",
        title="mean absolute error of q_M (share of correct responses), averaged over models",
        axis=alt.Axis(tickCount=8),
    )
    tints = alt.Color("source:N", scale=alt.Scale(domain=domain, range=colours), legend=alt.Legend(title="q_M"))
    offset = alt.YOffset("source:N", sort=domain)
    bars = (
        alt.Chart(mean)
        .mark_bar()
        .encode(x, y, tints, offset, tooltip=["verifier:N", "source:N", alt.Tooltip("error:Q", format=".3f")])
    )
    bound = alt.Chart(pl.DataFrame({"error": [0.2], "text": ["0.2: most PRMs of the paper are above"]}))
    line = bound.mark_rule(strokeDash=[4, 3]).encode(x="error:Q")
    words = bound.mark_text(align="left", baseline="bottom", dx=-4, dy=-4, fontSize=12)
    labels = words.encode(x="error:Q", y=alt.value(0), text="text:N")
    return alt.layer(bars, line, labels).properties(width=WIDTH, height=alt.Step(14))


EXPERIMENT = Experiment(
    description="error of the estimated q_M against a constant",
    where="Figure 4, right",
    paper=(
        "Estimating q_M from calibrated scores has a smaller error than a fixed global value, but for most PRMs the "
        "error is still above 0.2, which explains the weakness of KDE."
    ),
    differs=(
        "A verifier that knows hard questions from easy ones estimates q_M well even if it cannot tell correct "
        "from incorrect responses within a question; so this figure can look better than the votes."
    ),
    measure=measure,
    find=find,
    draw=draw,
)
