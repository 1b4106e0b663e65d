"""Small pools, drawn or made by hand, and the vote written as plainly as possible."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import steelyard as sy

Labelled = sy.LabelledPool

# Multiples of 1/64 add without rounding, so that the plain vote below is exact as well.
GRAIN = 64


def labelled(source: Any, **options: Any) -> sy.LabelledPool:
    pool = sy.read(source, **options)
    assert isinstance(pool, sy.LabelledPool)
    return pool


def without_sources() -> list[str]:
    """The methods that `evaluate` measures by default on a pool without sources."""
    kinds = {name: sy.method_class(name) for name in sy.method_names()}
    return [name for name, kind in kinds.items() if not (kind.weighs_sources or kind.only_by_name)]


def make(rows: list[tuple[int, int, float, bool]]) -> sy.LabelledPool:
    """Make a pool from (question, answer, score, correct)."""
    question, answer, score, correct = zip(*rows, strict=True)
    pool = sy.Pool.from_arrays(
        question=np.array(question),
        answer=np.array(answer, np.int32),
        scores=np.array(score, np.float64),
        correct=np.array(correct),
    )
    assert isinstance(pool, sy.LabelledPool)
    return pool


@st.composite
def pools(
    draw: Any, *, questions: int = 12, responses: int = 8, missing: bool = True, levels: int = GRAIN
) -> sy.LabelledPool:
    """Draw a labelled pool: few answers, coarse scores, so that ties are common."""
    rows = []
    scores: SearchStrategy[float] = st.integers(0, levels).map(lambda i: i / GRAIN)
    if missing:
        scores = st.one_of(scores, scores, scores, st.just(float("nan")))
    for q in range(draw(st.integers(1, questions))):
        is_correct = draw(st.sets(st.integers(0, 3), max_size=2))
        for _ in range(draw(st.integers(1, responses))):
            answer = draw(st.integers(-1, 3))
            rows.append((q, answer, draw(scores), answer in is_correct))
    return make(rows)


def plain_vote(pool: sy.Pool, weights: Any) -> list[int]:
    """Return the winning code of each question, by the rules as they are written down."""
    winners = []
    for q in range(pool.n_questions):
        rows = range(pool.starts[q], pool.starts[q + 1])
        known = [pool.known_scores[i] for i in rows if not np.isnan(pool.known_scores[i])]
        mean = sum(known) / len(known) if known else 0.0
        answers: dict[int, list[Any]] = {}
        for order, i in enumerate(rows):
            if pool.answer[i] >= 0:
                score = pool.known_scores[i]
                entry = answers.setdefault(int(pool.answer[i]), [Fraction(0), Fraction(0), 0, -order])
                entry[0] += _quantized(weights[i])
                entry[1] += _quantized(mean if np.isnan(score) else score)
                entry[2] += 1
        winners.append(max(answers, key=lambda a: tuple(answers[a])) if answers else -1)
    return winners


def _quantized(x: float) -> Fraction:
    return Fraction(round(Fraction(float(x)) * 2**36), 2**36)
