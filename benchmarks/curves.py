"""Scaling curves against the loop everybody writes first: shuffle, take n, sum in a dictionary, for every method."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np

import steelyard as sy
from benchmarks.measuring import Row, at_least, seconds
from steelyard.evaluation.random_subsets import count_by_adding, count_by_voting

QUESTIONS, N, RESAMPLES = 500, 128, 1000
SIZES = [1, 2, 4, 8, 16, 32, 64, 128]
SOME, FEW = 25, 4  # questions and resamples of the plain loop
METHODS: list[sy.Method] = [
    sy.MajorityVote(),
    sy.VanillaVote(),
    sy.paper.LinearVote(),
    sy.paper.LinearVote(rule="exact"),
    sy.LogitVote(),
    sy.LogitVote(rule="exact"),
    sy.LogitVote(rule="likelihood"),
    sy.paper.KDEVote(reliability="fitted"),
]


def pools() -> tuple[sy.LabelledPool, sy.LabelledPool]:
    pool = sy.read(sy.simulate(QUESTIONS + 100, N, seed=0))
    assert isinstance(pool, sy.LabelledPool)
    return pool.take(np.arange(100)), pool.take(np.arange(100, QUESTIONS + 100))


def plain(answer: list[int], score: list[float], correct: list[bool], weights: list[list[list[float]]]) -> list[int]:
    """Right votes of every method at every size, over a few shuffles of one question."""
    is_correct = [0] * (len(SIZES) * len(METHODS))
    rows = list(range(len(answer)))
    for _ in range(FEW):
        random.shuffle(rows)
        for t, n in enumerate(SIZES):
            for k in range(len(METHODS)):
                w = weights[t][k]
                total: dict[int, list[Any]] = {}
                for i in rows[:n]:
                    if answer[i] >= 0:
                        entry = total.setdefault(answer[i], [0.0, 0.0, 0, correct[i]])
                        entry[0] += w[i]
                        entry[1] += score[i]
                        entry[2] += 1
                is_correct[t * len(METHODS) + k] += max(total.values())[3] if total else 0
    return is_correct


def rows() -> list[Row]:
    cal, test = pools()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        voters = [[type(m)(**m.settings()).fit(cal, n=n) for m in METHODS] for n in SIZES]
        sizes, keys = np.array(SIZES), np.arange(QUESTIONS, dtype=np.uint64)
        hits = count_by_adding(voters, test, sizes, keys, FEW)
        assert np.array_equal(hits, count_by_voting(voters, test, sizes, keys, FEW))

        questions = []
        for q in range(SOME):
            part = slice(test.starts[q], test.starts[q + 1])
            lists: list[Any] = [column[part].tolist() for column in (test.answer, test.known_scores, test.correct)]
            questions.append([*lists, [[m.weigh(test)[part].tolist() for m in row] for row in voters]])
        loop, again, drawn, ours, full = seconds(
            lambda: [plain(*question) for question in questions],
            lambda: count_by_voting(voters, test, sizes, keys, FEW),
            lambda: count_by_adding(voters, test, sizes, keys, RESAMPLES),
            lambda: sy.evaluation.curves(METHODS, cal, test, n=SIZES, resamples=RESAMPLES),
            lambda: sy.evaluation.curves(METHODS, cal, test, n=SIZES, resamples=RESAMPLES, recalibrate="full"),
            repeats=3,
        )
    loop *= QUESTIONS * RESAMPLES / (SOME * FEW)
    again *= RESAMPLES / FEW
    what = f"curves of {QUESTIONS} x {N}, {len(METHODS)} methods, {len(SIZES)} sizes, {RESAMPLES:,} resamples"
    return [
        at_least(f"{what} against a plain Python loop", loop / ours, 200, f"loop {loop / 60:.0f} min"),
        at_least(f"{what}, all sizes drawn and only counted, against that loop", loop / drawn, 200, f"{drawn:.1f} s"),
        Row(f"{what} against voting again on every subset", f"{again / ours:.0f} x", "no goal", True),
        Row(f"{what}, calibrated at every size", f"{ours:.1f} s", "about 2 s", ours < 2.5),
        Row(f"{what}, calibrated once", f"{full:.1f} s", "about 2 s", full < 2.5),
    ]
