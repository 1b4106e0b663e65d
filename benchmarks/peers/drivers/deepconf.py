"""deepconf's votes, with the stored score in the place of the confidence of a trace."""

from __future__ import annotations

from benchmarks.peers.drivers.driver import Question, Verdict, per_question, run, skip_init

skip_init("deepconf")  # starts with vLLM

from deepconf.utils import simple_majority_vote, weighted_majority_vote  # noqa: E402


def simple(question: Question) -> Verdict:
    winner: Verdict = simple_majority_vote(question.answers)
    return winner


def weighted(question: Question) -> Verdict:
    winner: Verdict = weighted_majority_vote(question.answers, question.scores)
    return winner


if __name__ == "__main__":
    run({"majority": per_question(simple), "confidence-weighted": per_question(weighted)}, "deepconf")
