"""The data of the charts below the scaling curves, as rows: weights, scores, offsets and domains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from steelyard.evaluation.accuracy import estimates
from steelyard.evaluation.reports.summary import BASELINES, Case
from steelyard.foundation.charts.figures import Rows
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.weight_function import weight_function, with_offset
from steelyard.voting.pools.pool import LabelledPool

BINS = 25  # of the histogram of scores
STEPS = 400  # points of the accuracy curve over b, at most
DOMAINS = 30  # shown, the largest first
NAMED = 40  # characters of a domain


@dataclass(frozen=True)
class Weights:
    """What a score is worth, and how often correct and incorrect responses have it."""

    line: Rows  # score, weight; empty: the weight does not depend on the score alone
    crossings: list[float]  # scores at which the weight changes its sign, rising
    histogram: Rows  # kind (correct, wrong), begin, end, share
    frame: tuple[float, float]  # the scores that are seen
    below: dict[str, float]  # share of the correct and of the incorrect responses below the first crossing


@dataclass(frozen=True)
class Offsets:
    """Accuracy on the calibration questions over b, and where it is best."""

    steps: Rows  # b, accuracy: holds from b up to the next
    best: float  # accuracy
    intervals: list[tuple[float, float]]  # of b
    b: float
    at_b: float
    majority: float
    rule: str
    method: str


def weights_of(case: Case) -> Weights:
    """Trace the fitted weight over the scores, beside the histograms of the calibration responses."""
    frame = seen(case.cal)
    traced = weight_function(case.method, frame)
    line, crossings = traced.line, traced.crossings
    kinds = _by_kind(case.cal).items()
    below = {kind: float((p < crossings[0]).mean()) if crossings and len(p) else 0.0 for kind, p in kinds}
    return Weights(line, crossings, histogram(case.cal, frame), frame, below)


def seen(pool: LabelledPool) -> tuple[float, float]:
    """The range of scores worth drawing, in tenths: all scores but a few; everything where they are all the same."""
    scores = pool.known_scores[~np.isnan(pool.known_scores)]
    low, high = np.quantile(scores, [0.002, 0.998])
    begin, end = np.floor(10 * low) / 10, np.ceil(10 * high) / 10
    return (float(begin), float(end)) if begin < end else (0.0, 1.0)


def _by_kind(pool: LabelledPool) -> dict[str, Any]:
    """The scores of correct and of incorrect responses that can vote."""
    usable = pool.readable & ~np.isnan(pool.known_scores)
    return {"correct": pool.known_scores[usable & pool.correct], "wrong": pool.known_scores[usable & ~pool.correct]}


def histogram(pool: LabelledPool, frame: tuple[float, float] = (0.0, 1.0)) -> Rows:
    """The share of correct and of incorrect responses in each bin of scores; both add up to 1.

    The outermost bins also hold what lies beyond the frame.
    """
    edges = np.linspace(*frame, BINS + 1)
    rows = []
    for kind, scores in _by_kind(pool).items():
        counts, _ = np.histogram(np.clip(scores, *frame), edges)
        shares = counts / max(1, counts.sum())
        rows += [
            {"kind": kind, "begin": float(low), "end": float(high), "share": float(share)}
            for low, high, share in zip(edges, edges[1:], shares, strict=False)
        ]
    return rows


def offsets_of(method: Method) -> Offsets | None:
    """Read the exact accuracy curve of a fitted method, where it is a vote with an offset."""
    vote = with_offset(method)
    if vote is None:
        return None
    curve = vote.curve_
    below = curve.edges < curve.top
    edges, shares = curve.edges[below], curve.accuracy[: int(below.sum()) + 1]
    floor = max(-1.0, vote.score_at(-np.inf))
    starts = np.array([floor, *(max(floor, vote.score_at(edge)) for edge in edges)])
    even = np.linspace(0, len(starts) - 1, min(STEPS, len(starts))).astype(int)
    shown = np.unique(np.append(even, np.flatnonzero(shares == shares.max())[:STEPS]))
    steps = [{"b": float(starts[i]), "accuracy": float(shares[i])} for i in shown]
    steps.append({"b": float(min(1.0, vote.score_at(curve.top))), "accuracy": float(shares[-1])})
    best = [(max(floor, vote.score_at(low)), vote.score_at(high)) for low, high in curve.optimal]
    return Offsets(
        steps=steps,
        best=curve.best / curve.questions,
        intervals=best,
        b=max(floor, vote.b),
        at_b=curve.at(float(vote.offset_ if vote.offset_ is not None else -np.inf)),
        majority=curve.limit / curve.questions,
        rule=vote.rule,
        method=vote.name,
    )


def domains_of(case: Case, domain: pl.Series | None, *, seed: int) -> tuple[Rows, int]:
    """Accuracy by domain and method, with intervals, the largest domains first; and how many were left out.

    `domain` has one entry a test question.
    """
    if domain is None or domain.n_unique() < 2:
        return [], 0
    names = [name for name in dict.fromkeys((*BASELINES, case.method.name)) if name in case.verdicts]
    correct = np.column_stack([case.verdicts[name].correct(case.test) for name in names]).astype(np.float64)
    labels = np.array([_tame(name) for name in domain.fill_null("(none)")])
    values, counts = np.unique(labels, return_counts=True)
    order = values[np.lexsort((values, -counts))]
    rows = []
    for label in order[:DOMAINS]:
        here = labels == label
        for name, value in zip(names, estimates(correct[here], seed=seed, shares=True), strict=True):
            row = {"domain": str(label), "method": name, "questions": int(here.sum()), "accuracy": float(value)}
            rows.append(row | {"low": value.low, "high": value.high})
    return rows, max(0, len(order) - DOMAINS)


def _tame(name: str) -> str:
    """A name that fits an axis: printable, and not too long."""
    plain = "".join(char if char.isprintable() else " " for char in name)
    return plain if len(plain) <= NAMED else plain[: NAMED - 1] + "…"
