"""dspy.majority, with its own normal form of answers and without."""

from __future__ import annotations

import dspy

from benchmarks.peers.drivers.driver import Question, Verdict, per_question, run


def majority(question: Question) -> Verdict:
    return str(dspy.majority([{"answer": answer} for answer in question.answers]).answer)


def as_they_are(question: Question) -> Verdict:
    return str(dspy.majority([{"answer": answer} for answer in question.answers], normalize=None).answer)


if __name__ == "__main__":
    run({"majority": per_question(majority), "majority, normalize=None": per_question(as_they_are)}, "dspy")
