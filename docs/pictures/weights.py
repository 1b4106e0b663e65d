"""weights.svg: what a score is worth, learned on a bundled pair, and how the weights decide one question."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import steelyard as sy
from docs.pictures.shapes import INK

PAIR, N, QUESTION = "grid:smol-misled/orm_last", 8, "units-0403"
PAPER, RIGHT, WRONG, WIDTH = "#fdfdfb", "#0072b2", "#d55e00", 430


@dataclass(frozen=True)
class Answer:
    """One answer to the question in the picture; its responses have the same score."""

    answer: str
    correct: bool
    votes: int
    score: float
    weight: float

    @property
    def label(self) -> str:
        """The answer, its responses, and what each of them is worth."""
        number = "1 response" if self.votes == 1 else f"{self.votes} responses"
        return f"{self.answer}: {number}, score {self.score:.2f}, weight {self.weight:+.2f}"

    @property
    def rules(self) -> dict[str, float]:
        """What the answer is worth to each rule."""
        return {
            "majority: votes": self.votes,
            "vanilla: sum of scores": self.votes * self.score,
            "logit: sum of weights": self.votes * self.weight,
        }


@cache
def fitted() -> tuple[sy.LogitVote, sy.LabelledPool]:
    """The paper's logit vote, fitted on 300 questions of the pair, and its other questions."""
    calibration, test = sy.read_labelled(PAIR).split(0.3, seed=0)
    return sy.LogitVote().fit(calibration.first(N)), test.first(N)


def share_correct(low: float, high: float) -> float:
    """The share of correct responses among those of the calibration questions with a score in a range."""
    calibration, _ = sy.read_labelled(PAIR).split(0.3, seed=0)
    scores = np.asarray(calibration.known_scores)
    return float(calibration.correct[(scores >= low) & (scores <= high)].mean())


def answers() -> list[Answer]:
    """The answers to the question, the most frequent first."""
    vote, test = fitted()
    pool = test.take([list(test.questions).index(QUESTION)])
    rows = []
    for code in range(int(pool.width[0])):
        own = pool.answer == code
        score = float(pool.known_scores[own].mean())
        name = str(pool.names[int(pool.base[0]) + code])
        rows.append(Answer(name, bool(pool.correct[own][0]), int(own.sum()), score, vote.weight(score)))
    return sorted(rows, key=lambda row: -row.votes)


def weights() -> str:
    """The picture: the curve above, the three votes below."""
    import altair as alt
    import vl_convert

    chart = (
        alt.vconcat(_curve(), _votes(), spacing=24)
        .properties(background=PAPER, padding=14)
        .configure(font="system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif")
        .configure_view(strokeWidth=0)
        .configure_axis(gridOpacity=0.4, labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
        .configure_title(fontSize=14, anchor="start")
    )
    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def _curve() -> Any:
    """The weight by score, with both answers on it."""
    import altair as alt

    vote, _ = fitted()
    line = [{"score": float(p), "weight": vote.weight(float(p))} for p in np.linspace(0.02, 0.98, 97)]
    points = [
        {"score": row.score, "weight": row.weight, "correct": row.correct, "text": row.label} for row in answers()
    ]
    x = alt.X("score:Q", title="score of a response", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5))
    y = alt.Y("weight:Q", title="weight of its vote", axis=alt.Axis(tickCount=7))
    tint = alt.condition("datum.correct", alt.value(RIGHT), alt.value(WRONG))
    dots = alt.Chart(alt.InlineData(values=points)).encode(x=x, y=y, color=tint)
    near: dict[str, Any] = {"fontSize": 12, "fontWeight": "bold"}
    return alt.layer(
        alt.Chart(alt.InlineData(values=[{"y": 0}])).mark_rule(color=INK, strokeDash=[4, 3]).encode(y="y:Q"),
        alt.Chart(alt.InlineData(values=line)).mark_line(color=INK, strokeWidth=2).encode(x=x, y=y),
        dots.mark_point(filled=True, size=110, opacity=1),
        dots.transform_filter("!datum.correct").mark_text(align="left", dx=12, dy=10, **near).encode(text="text:N"),
        dots.transform_filter("datum.correct").mark_text(align="right", dx=-12, dy=-6, **near).encode(text="text:N"),
    ).properties(width=WIDTH, height=210, title=f"score → weight: logit p - logit b, b = {vote.b:.2f}")


def _votes() -> Any:
    """The total of each answer by three rules."""
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "rule": rule,
            "answer": row.answer,
            "total": total,
            "correct": row.correct,
            "text": f"{total:+.2f}" if "weights" in rule else f"{total:.3g}",
        }
        for row in answers()
        for rule, total in row.rules.items()
    ]
    panels = []
    for rule in answers()[0].rules:
        shown = [row for row in rows if row["rule"] == rule]
        edge = max(abs(row["total"]) for row in shown) * 1.45
        base = alt.Chart(alt.InlineData(values=shown)).encode(
            y=alt.Y("answer:N", title=None, sort=None),
            x=alt.X(
                "total:Q", title=None, axis=None, scale=alt.Scale(domain=[-edge if "weights" in rule else 0, edge])
            ),
        )
        bars = base.mark_bar(height=16).encode(color=alt.condition("datum.correct", alt.value(RIGHT), alt.value(WRONG)))
        right = (
            base.transform_filter("datum.total >= 0").mark_text(align="left", dx=5, fontSize=12).encode(text="text:N")
        )
        left = (
            base.transform_filter("datum.total < 0").mark_text(align="right", dx=-5, fontSize=12).encode(text="text:N")
        )
        panels.append(alt.layer(bars, right, left).properties(width=WIDTH - 30, height=52, title=_title(rule)))
    return alt.vconcat(*panels, spacing=12)


def _title(rule: str) -> str:
    """The rule and what it decides."""
    winner = max(answers(), key=lambda row: row.rules[rule])
    return f"{rule} → {winner.answer}, {'correct' if winner.correct else 'wrong'}"
