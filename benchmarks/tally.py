"""The weighted tally against summing the same arrays, sorting them, and a dictionary."""

from __future__ import annotations

import platform
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.measuring import Row, at_least, at_most, seconds

N = 32
GOAL = 2.0 if platform.machine() == "x86_64" else 2.5  # times np.sum, one thread


def arrays(rows: int) -> tuple[sy.Pool, NDArray[np.float64]]:
    """Responses with Zipf-like answers, 32 a question, and a weight each."""
    rng = np.random.default_rng(0)
    answer = np.minimum(rng.geometric(0.4, rows) - 1, 7).astype(np.int32)
    question = np.repeat(np.arange(rows // N, dtype=np.int32), N)
    return sy.Pool.from_arrays(question=question, answer=answer), rng.random(rows) - 0.3


def sort_and_reduce(pool: sy.Pool, weights: NDArray[np.float64]) -> NDArray[Any]:
    """The vote as numpy users write it: sort by question and answer, sum the runs, take the best."""
    question = np.repeat(np.arange(pool.n_questions), pool.sizes)
    order = np.lexsort((pool.answer, question))
    key = question[order] * 64 + pool.answer[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    totals = np.add.reduceat(weights[order], first)
    best = np.lexsort((-totals, key[first] // 64))
    heads = np.flatnonzero(np.diff(key[first][best] // 64, prepend=-1))
    return key[first][best][heads] % 64


def dictionary(question: NDArray[Any], answer: NDArray[Any], weight: NDArray[Any]) -> dict[int, int]:
    """The vote as everybody writes it first."""
    totals: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for q, a, w in zip(question.tolist(), answer.tolist(), weight.tolist(), strict=True):
        totals[q][a] += w
    return {q: max(answers, key=answers.__getitem__) for q, answers in totals.items()}


def sum_in_two_threads(pool: sy.Pool, weights: NDArray[np.float64]) -> float:
    """Sum the arrays as the tally counts them on two threads: what the memory of the machine allows."""
    cuts = (0, len(weights) // 2, len(weights))
    with ThreadPoolExecutor(2) as executor:
        sums = executor.map(lambda begin, end: weights[begin:end].sum() + pool.answer[begin:end].sum(), cuts, cuts[1:])
    return float(sum(sums))


def against_sums(size: int) -> list[Row]:
    pool, weights = arrays(size)
    sy.evaluation.tally(pool, weights, threads=1)
    one, two, summed, summed_by_two, copied = seconds(
        lambda: sy.evaluation.tally(pool, weights, threads=1),
        lambda: sy.evaluation.tally(pool, weights, threads=2),
        lambda: (np.sum(weights), np.sum(pool.answer)),
        lambda: sum_in_two_threads(pool, weights),
        lambda: (weights.copy(), pool.answer.copy()),
        repeats=max(5, 2 * 10**8 // size),
    )
    what = f"tally of 1e{len(str(size)) - 1} responses"
    speed = f"{size / one / 1e6:.0f} M/s"
    return [
        at_most(f"{what}, one thread, against np.sum of the same arrays", one / summed, GOAL, speed),
        Row(f"{what}, two threads against one", f"{one / two:.2f} times as fast", "at least 1.9", one / two >= 1.9),
        Row(
            f"np.sum of the arrays of a {what}, two threads against one",
            f"{summed / summed_by_two:.2f} times as fast",
            "no goal",
            True,
        ),
        Row(f"{what}, one thread, against a copy of the same arrays", f"{one / copied:.2f} x", "no goal", True),
    ]


def rows() -> list[Row]:
    pool, weights = arrays(10**7)
    question = np.repeat(np.arange(pool.n_questions), pool.sizes)
    code = sy.evaluation.tally(pool, weights).code
    assert np.array_equal(sort_and_reduce(pool, weights), code)
    assert list(dictionary(question, pool.answer, weights).values()) == code.tolist()
    one, sort, loop = seconds(
        lambda: sy.evaluation.tally(pool, weights, threads=1),
        lambda: sort_and_reduce(pool, weights),
        lambda: dictionary(question, pool.answer, weights),
        repeats=3,
    )
    return [
        *against_sums(10**7),
        *against_sums(10**8),
        at_least("tally of 1e7 responses against numpy sort and reduce", sort / one, 25, f"{sort:.2f} s"),
        at_least("tally of 1e7 responses against a Python dictionary", loop / one, 100, f"{loop:.2f} s"),
    ]
