"""Exact calibration against a grid that votes again at every point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.measuring import Row, at_least, at_most, seconds
from steelyard.voting.fitting.offset_curve import Curve, intervals, lines
from steelyard.voting.score_weights import clipped_logit

Floats = NDArray[np.float64]
with np.errstate(divide="ignore"):
    OFFSETS = np.clip(np.log(np.linspace(0, 1, 101)) - np.log1p(-np.linspace(0, 1, 101)), -99, 99)


def pool_of(questions: int, samples: int) -> sy.LabelledPool:
    pool = sy.read(sy.simulate(questions, samples, seed=0))
    assert isinstance(pool, sy.LabelledPool)
    return pool


def calibrate(pool: sy.LabelledPool, z: Floats) -> Curve:
    return intervals(lines(pool, z, pool.known_scores)).curve()


def numpy_vote(question: NDArray[np.int64], answer: NDArray[np.int32], weights: Floats) -> NDArray[np.int64]:
    """The winners, by counting in numpy."""
    seen = answer >= 0
    shape = (int(question[-1]) + 1, int(answer.max()) + 1)
    key = question[seen] * shape[1] + answer[seen]
    votes = np.bincount(key, minlength=shape[0] * shape[1]).reshape(shape)
    totals = np.bincount(key, weights[seen], shape[0] * shape[1]).reshape(shape)
    winners: NDArray[np.int64] = np.where(votes > 0, totals, -np.inf).argmax(axis=1)
    return winners


def grid(pool: sy.LabelledPool, z: Floats) -> list[int]:
    """Right verdicts at every offset of the grid, voting again at each."""
    question = np.repeat(np.arange(pool.n_questions), pool.sizes)
    found = []
    for offset in OFFSETS:
        winner = numpy_vote(question, pool.answer, z - offset)
        alive = winner < pool.width
        found.append(int(pool.answer_correct[np.where(alive, pool.base + winner, -1)].sum()))
    return found


def tuned_grid(pool: sy.LabelledPool, z: Floats) -> list[int]:
    """The same, tuned by hand: only the sums are made again at each offset."""
    z = z[pool.readable]
    place = (pool.spread(pool.base) + pool.answer)[pool.readable]
    size = int(pool.width.sum())
    filled = pool.width > 0
    begin, correct = pool.base[filled], pool.answer_correct[:size]
    which = np.repeat(np.arange(len(begin)), pool.width[filled])
    found = []
    for offset in OFFSETS:
        totals = np.bincount(place, z - offset, size)
        won = totals == np.maximum.reduceat(totals, begin)[which]
        found.append(int(np.logical_or.reduceat(won & correct, begin).sum()))
    return found


def rows() -> list[Row]:
    pool = pool_of(1000, 32)
    z = clipped_logit(pool.known_scores)
    gained = int(calibrate(pool, z).correct.max()) - max(grid(pool, z))
    ours, theirs, tuned = seconds(
        lambda: calibrate(pool, z), lambda: grid(pool, z), lambda: tuned_grid(pool, z), repeats=20
    )
    large = pool_of(100_000, 64)
    z_large = clipped_logit(large.known_scores)
    big, summed = seconds(
        lambda: calibrate(large, z_large), lambda: (np.sum(z_large), np.sum(large.known_scores), np.sum(large.answer))
    )
    what, many = "exact calibration of 1,000 x 32", "exact calibration of 100,000 x 64"
    return [
        at_least(f"{what} against a 101-point grid voting in numpy", theirs / ours, 50, f"{1e3 * ours:.2f} ms"),
        Row(f"{what} against that grid tuned by hand", f"{tuned / ours:.0f} x", "no goal", True),
        Row(f"{what}: questions it answers more than the grid", f"{gained}", "never fewer", gained >= 0),
        at_most(f"{many} against np.sum of its data", big / summed, 100, f"{1e3 * big:.0f} ms"),
    ]
