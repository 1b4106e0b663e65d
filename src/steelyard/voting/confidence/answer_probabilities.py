"""How likely each answer of a question is the correct one, and how likely none of them is.

The winner has the probability of the verdict (correctness_model.py): P(winner) = P(it is this one) * P(one of them).
The other answers share the rest of P(one of them) as their chances are, and none is likelier than the winner; what
is left over is added to P(none of them), so that everything adds up to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.voting.confidence.correctness_model import CorrectnessBySamples, Vector, winners
from steelyard.voting.fitting.conditional_logit import AnswerFeatures
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import Pool


@dataclass(frozen=True)
class AnswerProbabilities:
    """P(correct) of the answers of a pool; over a question they add up to 1 with `none`."""

    offsets: Ints  # [Q] where each question's answers begin in `p`
    p: Vector  # [places] 0 for an answer that was not given
    none: Vector  # [Q] no given answer is correct; 1 where none could be read

    def of(self, q: int) -> Vector:
        """The answers of one question, in the order of their codes."""
        end = self.offsets[q + 1] if q + 1 < len(self.offsets) else len(self.p)
        return self.p[self.offsets[q] : end]


def answer_probabilities(
    models: CorrectnessBySamples, answers: AnswerFeatures, chance: Vector, pool: Pool
) -> AnswerProbabilities:
    """Share the probability of every question of a pool out to its answers; `chance` [K] adds up to 1 over each."""
    winner = winners(answers, chance)[2]
    answered = answers.question  # [Q'] questions with an answer
    top, among = (part[answered] for part in models.predict_parts(answers, chance, pool.sizes))
    others = chance.copy()
    others[winner] = 0.0
    all_others = np.add.reduceat(others, answers.starts) if len(others) else others  # may round to 0
    part = others / np.repeat(np.where(all_others > 0, all_others, 1.0), answers.sizes)
    p = np.minimum(part * np.repeat(np.maximum(among - top, 0.0), answers.sizes), np.repeat(top, answers.sizes))
    p[winner] = top
    offsets = np.cumsum(pool.width) - pool.width
    by_answer = np.zeros(int(pool.width.sum()))
    by_answer[np.unique((pool.spread(offsets) + pool.answer)[pool.readable])] = p  # where the given answers stand
    none = np.ones(pool.n_questions)
    none[answered] = np.maximum(1 - np.add.reduceat(p, answers.starts), 0.0) if len(p) else 1.0
    return AnswerProbabilities(offsets, by_answer, none)
