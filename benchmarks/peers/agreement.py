"""Two lists of verdicts on the same questions: how many are correct, which differ, and which of those are ties."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.peers.drivers.driver import Question, Verdict
from benchmarks.peers.responses import ResponseSet

CLOSE = 1e-6  # relative; scores are 32-bit floats
TEMPERATURE = 0.1  # of CISC

Weights = Callable[[Question], Sequence[float]]
SUMMED: Mapping[str, Weights] = {
    "majority": lambda question: [1.0] * len(question.answers),
    "vanilla": lambda question: question.scores,
    "cisc": lambda question: [math.exp(score / TEMPERATURE) for score in question.scores],
}


@dataclass(frozen=True)
class Agreement:
    accuracy: float
    own_accuracy: float
    differ: int
    ties: int  # of those that differ


def agreement(responses: ResponseSet, own_rule: str, verdicts: Sequence[Verdict], own: Sequence[Verdict]) -> Agreement:
    """Compare a peer's verdicts with those of one of Steelyard's rules."""
    size = len(responses.questions)
    if len(verdicts) != size or len(own) != size:
        raise ValueError(f"{len(verdicts)} and {len(own)} verdicts on {size} questions")
    right = [sum(v in c for v, c in zip(row, responses.correct, strict=True)) / size for row in (verdicts, own)]
    differing = [i for i in range(size) if verdicts[i] != own[i]]
    ties = sum(tied(own_rule, responses.questions[i], verdicts[i], own[i]) for i in differing)
    return Agreement(right[0], right[1], len(differing), ties)


def tied(rule: str, question: Question, one: Verdict, other: Verdict) -> bool:
    """Whether two answers are equally good by a rule; False for a rule that defines no total of its own."""
    totals = _totals(rule, question)
    if one not in totals or other not in totals:
        return False
    return math.isclose(totals[one], totals[other], rel_tol=CLOSE)


def _totals(rule: str, question: Question) -> dict[Verdict, float]:
    totals: defaultdict[Verdict, float] = defaultdict(float)
    if rule == "best-of-n":
        for answer, score in zip(question.answers, question.scores, strict=True):
            totals[answer] = max(totals[answer], score)
    elif rule in SUMMED:
        for answer, weight in zip(question.answers, SUMMED[rule](question), strict=True):
            totals[answer] += weight
    return dict(totals)
