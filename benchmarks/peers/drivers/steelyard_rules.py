"""Steelyard's own methods under the same protocol."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

import steelyard as sy
from benchmarks.peers.drivers.driver import Question, Rule, Verdict, run
from steelyard.voting.methods import configured, method_names
from steelyard.voting.methods.base.method import Method
from steelyard.voting.stopping import rule_class
from steelyard.voting.stopping.stopping_rule import prefix_votes


def as_frame(questions: list[Question]) -> pl.DataFrame:
    """A table with one row per response."""
    columns = {
        "answer": [question.answers for question in questions],
        "score": [question.scores for question in questions],
        "source": [question.sources for question in questions],
    }
    return pl.DataFrame(columns).with_row_index("question").explode(*columns)


def pool_of(table: pl.DataFrame, *, scored: bool) -> sy.Pool:
    """Two answers are the same if their texts are."""
    return sy.read(table, score="score" if scored else "none", source="source", answers="exact", need_score=scored)


def method(make: Callable[[], Method]) -> Rule:
    """The verdicts of a method; one that learns from unlabelled responses is fitted on the same."""

    def decide(table: pl.DataFrame) -> list[Verdict]:
        vote = make()
        pool = pool_of(table, scored=vote.scored)
        if vote.name == "consensus":
            vote.fit(pool)
        return list(vote.predict(pool).answer)

    return Rule(decide, as_frame)


def adaptive_consistency(table: pl.DataFrame) -> list[Verdict]:
    """The majority of the samples up to the one after which the `beta` rule stops."""
    pool = pool_of(table, scored=False)
    prefix = prefix_votes(sy.MajorityVote(), pool)
    last = rule_class("beta")(cap=pool.n).stops(prefix) - 1
    code = prefix.code[np.arange(pool.n_questions), last]
    return pl.Series(pool.names).gather(pool.base + code).to_list()


RULES: dict[str, Rule] = {
    "majority": method(sy.MajorityVote),
    "vanilla": method(sy.VanillaVote),
    "best-of-n": method(sy.BestOfN),
    "consensus": method(sy.ConsensusVote),
    "one-coin": method(lambda: sy.ConsensusVote(rule="one-coin")),
    "dawid-skene": method(lambda: sy.ConsensusVote(rule="dawid-skene")),
    "beta": Rule(adaptive_consistency, as_frame),
}
if "cisc" in method_names():
    RULES["cisc"] = method(lambda: configured("cisc", {"temperature": 0.1}))

if __name__ == "__main__":
    run(RULES, "steelyard")
