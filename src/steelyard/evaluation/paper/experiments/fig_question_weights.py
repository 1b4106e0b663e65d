"""Figure 4, left: the global weight function against those of single questions."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from steelyard.evaluation.paper.experiment import Experiment, Finding
from steelyard.evaluation.paper.experiments._weight_functions import SCORES, global_function, mixed, question_function
from steelyard.evaluation.paper.measuring import splits
from steelyard.evaluation.paper.pair_grid import Grid, Settings
from steelyard.evaluation.percentages import percent
from steelyard.foundation.errors import TableError
from steelyard.voting.method_colours import colour
from steelyard.voting.pools.pool import LabelledPool

SHOWN = 5
GLOBAL = "all questions"
PANEL = 200  # pixels


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    pair = max(grid.prm, key=lambda pair: np.nan_to_num(pair.auroc))
    cal, test = splits(pair.pool, settings)[0]
    questions = mixed(test)
    if not len(questions):
        raise TableError("no test question has three right and three wrong responses: no function of its own")
    chosen = np.random.default_rng(settings.seed).permutation(questions)[:SHOWN]
    functions, seen = {GLOBAL: global_function(cal)[1]}, {GLOBAL: _ends(cal)}
    for q in np.sort(chosen).tolist():
        name = f"question {test.questions[q]}"
        functions[name], seen[name] = question_function(test, q), _ends(test.take([q]))
    common = {"llm": pair.llm, "verifier": pair.verifier}
    return pl.DataFrame(
        [
            common | {"function": name, "score": float(p), "weight": float(w)}
            for name, values in functions.items()
            for p, w in zip(SCORES, values, strict=True)
            if seen[name][0] <= p <= seen[name][1]
        ]
    )


def _ends(pool: LabelledPool) -> tuple[float, float]:
    """The lowest and the highest score, one step of SCORES wider: beyond them a density is a guess."""
    step = float(SCORES[1] - SCORES[0])
    return float(np.nanmin(pool.known_scores)) - step, float(np.nanmax(pool.known_scores)) + step


def find(rows: pl.DataFrame) -> Finding:
    both = rows.filter(pl.col("function") != GLOBAL).join(
        rows.filter(pl.col("function") == GLOBAL).select("score", reference="weight"), on="score"
    )
    stats = both.group_by("function", maintain_order=True).agg(
        (pl.col("weight") - pl.col("reference")).abs().mean().alias("apart"),
        ((pl.col("weight") < 0) != (pl.col("reference") < 0)).mean().alias("against"),
    )
    apart, against = float(np.mean(stats["apart"].to_numpy())), float(np.mean(stats["against"].to_numpy()))
    llm, verifier = rows["llm"][0], rows["verifier"][0]
    ours = (
        f"For {llm} with {verifier}, the pair that discriminates best, the functions of {stats.height} questions drawn "
        f"at random lie {apart:.1f} nats from the global one on average, within the scores their responses have, and "
        f"have the other sign at {percent(against, 0)} % of them. Such a function is estimated from one question's "
        "few responses and their labels: part of the difference is that (table-variance has the control)."
    )
    return Finding(f"Single questions' weight functions lie {apart:.1f} nats from the global one", ours, None)


def draw(rows: pl.DataFrame) -> Any:
    import altair as alt

    values = rows["weight"].to_numpy()
    ends = [1.1 * float(values.min()), 1.1 * float(values.max())]
    y = alt.Y("weight:Q", title="weight, nats", scale=alt.Scale(domain=ends, nice=False))
    x = alt.X("score:Q", title="score", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5))
    everyone = alt.Chart(rows.filter(pl.col("function") == GLOBAL)).mark_line(strokeWidth=3, color="black")
    level = alt.Chart(pl.DataFrame({"weight": [0.0]})).mark_rule(color="grey").encode(y=y)
    panels: list[Any] = []
    for (name,), part in rows.filter(pl.col("function") != GLOBAL).group_by("function", maintain_order=True):
        own = (
            alt.Chart(part)
            .mark_line(strokeWidth=2.5, color=colour("kde"))
            .encode(x, y, tooltip=["score:Q", "weight:Q"])
        )
        layers = [level, everyone.encode(x, y), own]
        if not panels:
            layers += _named(rows, part, x, y)
        heading = alt.TitleParams(str(name), fontSize=12, anchor="start")
        panels.append(alt.layer(*layers).properties(width=PANEL, height=150, title=heading))
    return alt.vconcat(*(alt.hconcat(*panels[i : i + 3]) for i in range(0, len(panels), 3)))


def _named(rows: pl.DataFrame, part: pl.DataFrame, x: Any, y: Any) -> list[Any]:
    """The names of the two lines, in the first panel: above the end of one and below the lowest point of the other."""
    import altair as alt

    top = rows.filter(pl.col("function") == GLOBAL).tail(1)
    low = part.filter(pl.col("score") > 0.2).sort("weight").head(1)
    above = alt.Chart(top).mark_text(align="right", dx=-12, dy=-6, fontSize=12).encode(x, y, text=alt.value(GLOBAL))
    below = alt.Chart(low).mark_text(align="left", dy=16, fontSize=12).encode(x, y, text=alt.value("this question"))
    return [above, below]


EXPERIMENT = Experiment(
    description="the global weight function against those of single questions",
    where="Figure 4, left",
    paper="The per-question functions of five questions vary largely around the global one: one "
    "function is not optimal.",
    differs="The paper chose its five questions; ours are drawn at random among those with three "
    "correct and three incorrect responses.",
    measure=measure,
    find=find,
    draw=draw,
)
