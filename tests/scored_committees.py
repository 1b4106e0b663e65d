"""Simulated committees with a verifier: how often each source is correct, and how well its scores tell."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

import steelyard as sy

WRONG = 4


def scored_committee(
    reliability: Mapping[str, float],
    gaps: Mapping[str, float],
    *,
    questions: int = 120,
    samples: int = 4,
    seed: int = 0,
) -> pl.DataFrame:
    """A labelled table: question, sample, llm, answer, correct, score, tokens (10 and more by sample).

    The logit of a score is gap / 2 above 0 for a correct response and as much below for another, with noise of 1;
    without a gap it says nothing, and a source that is not among the gaps has no scores.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for q in range(questions):
        for name, p in reliability.items():
            for sample in range(samples):
                correct = bool(rng.random() < p)
                answer = 0 if correct else 1 + int(rng.integers(WRONG))
                logit = gaps.get(name, 0.0) * (correct - 0.5) + rng.normal()
                score = float(1 / (1 + np.exp(-logit))) if name in gaps else None
                rows.append((f"q{q:04d}", sample, name, str(answer), correct, score, 10 + sample))
    columns = ["question", "sample", "llm", "answer", "correct", "score", "tokens"]
    return pl.DataFrame(rows, columns, orient="row", schema_overrides={"score": pl.Float64})


def scored_pool(reliability: Mapping[str, float], gaps: Mapping[str, float], **options: int) -> sy.LabelledPool:
    table = scored_committee(reliability, gaps, **options)
    return sy.read_labelled(table, source="llm", answers="exact", score="score", tokens=True)
