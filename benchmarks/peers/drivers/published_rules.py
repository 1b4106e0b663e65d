"""Rules of code that is on no package index, re-implemented from what was published.

search-and-learn (Hugging Face, `utils/math.py`): `naive` is the answer of the response with the best aggregated score,
`weighted` the answer with the largest sum of scores, `maj` the most common answer; the first one wins a tie.
CISC (Taubenfeld et al., arXiv 2502.06233): the answer with the largest sum of softmax(score / T) within the question.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from benchmarks.peers.drivers.driver import Question, Verdict, per_question, run

TEMPERATURE = 0.1  # of CISC


def naive(question: Question) -> Verdict:
    best = max(range(len(question.scores)), key=question.scores.__getitem__)
    return question.answers[best]


def maj(question: Question) -> Verdict:
    return Counter(question.answers).most_common(1)[0][0]


def weighted(question: Question) -> Verdict:
    return _largest_sum(question.answers, question.scores)


def cisc(question: Question) -> Verdict:
    top = max(question.scores)
    return _largest_sum(question.answers, [math.exp((score - top) / TEMPERATURE) for score in question.scores])


def _largest_sum(answers: list[str], weights: list[float]) -> Verdict:
    totals: defaultdict[str, float] = defaultdict(float)
    for answer, weight in zip(answers, weights, strict=True):
        totals[answer] += weight
    return max(totals, key=totals.__getitem__)


if __name__ == "__main__":
    run(
        {
            "naive": per_question(naive),
            "weighted": per_question(weighted),
            "maj": per_question(maj),
            "cisc": per_question(cisc),
        }
    )
