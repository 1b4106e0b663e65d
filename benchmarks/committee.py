"""A committee as large as real ones: the vote against the bare tally, and the fit in seconds of one core."""

from __future__ import annotations

import time
import warnings

import numpy as np

import steelyard as sy
from benchmarks.measuring import Row, at_most, seconds

SOURCES, QUESTIONS = 83, 12_032


def responses() -> sy.LabelledPool:
    """One response of every source to every question, sources from poor to good, ten answers to choose from."""
    rng = np.random.default_rng(0)
    ability, hard = rng.normal(0.5, 1, SOURCES), rng.normal(0, 1.2, (QUESTIONS, 1))
    correct = rng.random((QUESTIONS, SOURCES)) < 1 / (1 + np.exp(-ability - hard))
    answer = np.where(correct, 0, 1 + np.minimum(rng.geometric(0.35, correct.shape), 9) - 1).astype(np.int32)
    pool = sy.Pool.from_arrays(
        question=np.repeat(np.arange(QUESTIONS), SOURCES),
        answer=answer.ravel(),
        source=np.tile([f"s{i:02d}" for i in range(SOURCES)], QUESTIONS),
        correct=correct.ravel(),
    )
    assert isinstance(pool, sy.LabelledPool)
    return pool


def rows() -> list[Row]:
    warnings.simplefilter("ignore", sy.SteelyardWarning)
    pool = responses()
    vote = sy.CommitteeVote().fit(pool.take(np.arange(300)))
    spent = {}
    kinds: tuple[type[sy.Method], ...] = (sy.CommitteeVote, sy.ConsensusVote)
    for kind in kinds:
        kind().fit(pool.take(np.arange(100)))
        start = time.process_time()
        kind().fit(pool)
        spent[kind.name] = time.process_time() - start
    new, weights = pool.unlabelled(), vote.weigh(pool)
    voted, counted = seconds(lambda: vote.predict(new), lambda: sy.evaluation.tally(new, weights, threads=1))
    what = f"{SOURCES} sources x {QUESTIONS:,} questions"
    speed = pool.n_responses / voted / 1e6
    return [
        at_most(f"a committee's verdicts on {what}, against the tally alone", voted / counted, 10, f"{speed:.0f} M/s"),
        Row(f"a committee's verdicts on {what}", f"{speed:.0f} M votes/s", "at least 20 M votes/s", speed >= 20),
        *(
            Row(f"{name} fitted on {what}: CPU", f"{used:.1f} s", "at most 5 s", used <= 5)
            for name, used in spent.items()
        ),
    ]
