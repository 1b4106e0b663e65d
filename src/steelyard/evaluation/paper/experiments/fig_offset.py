"""Figure 3, left and middle: accuracy on the calibration set over the offset b."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import polars as pl

from steelyard.evaluation.paper.experiment import Experiment, Finding
from steelyard.evaluation.paper.measuring import quiet
from steelyard.evaluation.paper.pair_grid import RESERVE as SHARE
from steelyard.evaluation.paper.pair_grid import Grid, Pair, Settings
from steelyard.evaluation.paper.paper_tables import count
from steelyard.evaluation.percentages import points
from steelyard.foundation.charts.chart_style import RESERVE, named_lines
from steelyard.voting.methods import method_class
from steelyard.voting.methods.base.weight_function import Offset
from steelyard.voting.score_weights import logit

POINTS = 101
TALL = 260  # pixels
RANGES = {"linear": (-1.0, 1.0), "logit": (0.0, 1.0)}  # the paper's


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    def one(pair: Pair) -> list[dict[str, Any]]:
        cal = pair.pool.split(SHARE, seed=settings.seed)[0]
        with quiet():
            votes = {form: cast(Offset, method_class(form)().fit(cal)) for form in RANGES}
        rows: list[dict[str, Any]] = []
        for form, vote in votes.items():
            curve, total = vote.curve_, vote.curve_.questions
            b = float(vote.b) if np.isfinite(vote.b) else None  # None is the majority vote, b at minus infinity
            common = {"llm": pair.llm, "verifier": pair.verifier, "form": form, "chosen": b}
            common |= {"majority": curve.limit / total, "best": curve.best / total, "questions": total}
            tried = np.linspace(*RANGES[form], POINTS).tolist()
            rows += [common | {"b": b, "accuracy": curve.at(b if form == "linear" else logit(b))} for b in tried]
        return rows

    return pl.DataFrame(grid.collect(settings, grid.leading, one), infer_schema_length=None)


def find(rows: pl.DataFrame) -> Finding:
    votes = rows.group_by("llm", "form", maintain_order=True).agg(pl.col("chosen", "best", "majority").first())
    above = votes.filter(pl.col("chosen") > 0.005)
    gain = float(np.mean((votes["best"] - votes["majority"]).to_numpy()))
    spread = [
        f"{row['llm']} {row['form']} {'majority' if row['chosen'] is None else format(row['chosen'], '.2f')}"
        for row in votes.iter_rows(named=True)
    ]
    ours = (
        f"The fitted b is above zero in {above.height} of {votes.height} fits ({', '.join(spread)}). In hindsight the "
        f"best offset beats the majority vote by {points(gain)} points on the calibration questions, on average."
    )
    holds = above.height == votes.height
    return Finding(
        f"The fitted offset is above zero in {above.height} of {count(votes.height, 'fit')}; the best "
        f"gains {points(gain)} points",
        ours,
        holds,
    )


def draw(rows: pl.DataFrame) -> Any:
    import altair as alt

    llms = rows["llm"].unique(maintain_order=True).to_list()
    tints = alt.Scale(domain=llms, range=[RESERVE[i % len(RESERVE)] for i in range(len(llms))])
    values = rows["accuracy"].to_numpy()
    frame = (float(values.min()) - 0.02, float(values.max()) + 0.02)
    scale = alt.Scale(domain=list(frame), nice=False)
    y = alt.Y("accuracy:Q", title="accuracy on the calibration set", axis=alt.Axis(format=".0%"), scale=scale)
    panels = []
    for form, ends in RANGES.items():
        part = rows.filter(pl.col("form") == form)
        x = alt.X("b:Q", title="offset b (score units)", scale=alt.Scale(domain=list(ends)), axis=alt.Axis(tickCount=5))
        line = (
            alt.Chart(part)
            .mark_line(interpolate="step-after")
            .encode(x, y, alt.Color("llm:N", scale=tints, legend=None))
            .encode(tooltip=["llm:N", "verifier:N", "b:Q", alt.Tooltip("accuracy:Q", format=".1%")])
        )
        near = (pl.col("b") - pl.col("chosen")).abs()
        fitted = part.filter(pl.col("chosen").is_between(*ends)).sort(near).group_by("llm", maintain_order=True).first()
        dots = alt.Chart(fitted).mark_point(filled=True, size=90, opacity=1, stroke="white", strokeWidth=1)
        dots = dots.encode(alt.X("chosen:Q"), y, alt.Color("llm:N", scale=tints, legend=None))
        lines = part.select(pl.col("accuracy"), method="llm", n="b").to_dicts()
        names = named_lines(lines, llms, frame, TALL, colours=alt.Color("method:N", scale=tints, legend=None))
        weight = "p - b" if form == "linear" else "logit p - logit b"
        heading = alt.TitleParams(
            f"{form}: weight {weight}", subtitle="dots: the fitted b", fontSize=12, anchor="start"
        )
        panels.append(alt.layer(line, dots, *names).properties(width=270, height=TALL, title=heading))
    return alt.hconcat(*panels)


EXPERIMENT = Experiment(
    description="accuracy over the offset b for linear and logit, optimum marked, per model",
    where="Figure 3, left and middle",
    paper="The best offset is above zero for all LLMs and both forms: negative weights are needed.",
    differs=(
        "Each model is shown with the verifier that discriminates best within its questions. A dot is the fitted b "
        "(the mean over bootstraps of the exact optimum); none is drawn outside the range searched."
    ),
    measure=measure,
    find=find,
    draw=draw,
)
