"""The filters of lm-eval that choose among several responses."""

from __future__ import annotations

from lm_eval.filters.selection import MajorityVoteFilter

from benchmarks.peers.drivers.driver import Question, Rule, Verdict, run


def majority_vote(questions: list[Question]) -> list[Verdict]:
    return [winner for (winner,) in MajorityVoteFilter().apply([question.answers for question in questions], [])]


if __name__ == "__main__":
    run({"majority_vote": Rule(majority_vote)}, "lm-eval")
