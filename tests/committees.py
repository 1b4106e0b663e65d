"""Simulated committees: sources with a reliability each, some of them copies, and a few wrong answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

import steelyard as sy

FIVE = {"ant": 0.9, "bee": 0.65, "cat": 0.45, "dog": 0.4, "eel": 0.35}


def committee(
    reliability: Mapping[str, float] = FIVE,
    questions: int = 120,
    *,
    seed: int = 0,
    copies: Mapping[str, str] | None = None,
    samples: Mapping[str, int] | None = None,
    rivals: int = 5,
) -> pl.DataFrame:
    """A labelled table: question, sample, llm, answer, correct; `copies` say what another source says."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 0.7, questions)
    rows, said = [], {}
    for name, p in reliability.items():
        z = np.log(p / (1 - p)) + hard
        for sample in range((samples or {}).get(name, 1)):
            right = rng.random(questions) < 1 / (1 + np.exp(-z))
            said[name, sample] = np.where(right, 0, 1 + rng.integers(0, rivals, questions))
    for name, other in (copies or {}).items():
        said |= {(name, sample): codes for (whose, sample), codes in list(said.items()) if whose == other}
    for (name, sample), codes in said.items():
        rows += [(f"q{q:04d}", sample, name, str(code), code == 0) for q, code in enumerate(codes.tolist())]
    columns = ["question", "sample", "llm", "answer", "correct"]
    return pl.DataFrame(rows, columns, orient="row").sort("question", "sample", "llm")


def pool(table: pl.DataFrame | None = None, **options: object) -> sy.LabelledPool:
    made = committee(**options) if table is None else table  # type: ignore[arg-type]
    return sy.read_labelled(made, source="llm", answers="exact", score="none")


def accuracy(method: sy.Method, test: sy.LabelledPool) -> float:
    return float(method.predict(test.unlabelled()).correct(test).mean())


def with_random_labels(pool: sy.LabelledPool, seed: int) -> sy.LabelledPool:
    """The pool with one answer of every question called correct at random."""
    rng = np.random.default_rng(seed)
    correct = np.zeros(len(pool.answer_correct), bool)
    for q in range(pool.n_questions):
        given = np.unique(pool.answer[pool.starts[q] : pool.starts[q + 1]])
        correct[pool.base[q] + rng.choice(given[given >= 0])] = True
    return replace(pool, answer_correct=correct)
