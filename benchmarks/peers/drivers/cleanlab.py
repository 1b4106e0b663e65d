"""cleanlab's majority vote of annotators, which needs a closed set of answers."""

from __future__ import annotations

import numpy as np
from cleanlab.multiannotator import get_majority_vote_label
from numpy.typing import NDArray

from benchmarks.peers.drivers.driver import Question, Rule, Verdict, run

LETTERS = "ABCDE"


def as_matrix(questions: list[Question]) -> NDArray[np.int64]:
    return np.array([[LETTERS.index(answer) for answer in question.answers] for question in questions])


def majority(labels: NDArray[np.int64]) -> list[Verdict]:
    return [LETTERS[int(winner)] for winner in get_majority_vote_label(labels, verbose=False)]


if __name__ == "__main__":
    run({"get_majority_vote_label": Rule(majority, as_matrix)}, "cleanlab")
