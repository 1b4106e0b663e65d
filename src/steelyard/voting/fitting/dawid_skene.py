"""Dawid and Skene's model of annotators (1979): the answers of each voter given the correct one, without labels.

    P(voter v answers l | k is correct) = C_v[k, l],   P(k is correct) = prior_k
    E   T_q[k] ~ prior_k * product over v of C_v[k, answer of v to q]
    M   C_v[k, l] ~ SMOOTH + sum over q of T_q[k] [v answered l to q],   prior_k ~ SMOOTH + sum over q of T_q[k]

again and again, from the shares of votes. It needs a closed set of answers, the same few for every question. With one
coin per voter, C_v[k, k] = p_v for every k and all mistakes are alike: fewer numbers, and no preference for a letter.
Both take voters for independent given the correct answer. Those that err together are believed too much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
ROUNDS = 50
SMOOTH = 1.0  # votes
STILL = 1e-4  # a posterior that moves less than this has settled


@dataclass(frozen=True, eq=False)
class Annotators:
    """The fitted model: log C [V, K, K] by voter, correct answer and given answer, and log prior [K]."""

    log_confusion: Matrix
    log_prior: Matrix

    @property
    def p(self) -> Matrix:
        """The chance that each voter is correct [V]."""
        hit = np.exp(np.diagonal(self.log_confusion, axis1=1, axis2=2))
        return np.asarray(hit @ np.exp(self.log_prior), np.float64)

    def log_odds(self) -> Matrix:
        """What a vote of each voter is worth where all mistakes are alike [V]: log p / (1 - p) + log (K - 1)."""
        p = np.clip(self.p, 1e-3, 1 - 1e-3)
        return np.asarray(np.log(p / (1 - p)) + np.log(len(self.log_prior) - 1), np.float64)


def dawid_skene(answers: NDArray[np.int32], classes: int, *, one_coin: bool = False) -> Annotators:
    """Fit by expectation and maximisation; answers [Q, V] are 0 .. classes - 1, -1 for none."""
    counts = np.stack([(answers == k).sum(axis=1) for k in range(classes)], axis=1).astype(np.float64)
    posterior = (counts + 1 / classes) / (counts + 1 / classes).sum(axis=1, keepdims=True)
    model = _maximised(answers, posterior, one_coin=one_coin)
    for _ in range(ROUNDS):
        before, posterior = posterior, _expected(answers, model)
        model = _maximised(answers, posterior, one_coin=one_coin)
        if np.abs(posterior - before).max() < STILL:
            break
    return model


def _maximised(answers: NDArray[np.int32], posterior: Matrix, *, one_coin: bool) -> Annotators:
    """The M step."""
    from steelyard.voting import kernels

    classes, voters = posterior.shape[1], answers.shape[1]
    together = np.zeros((voters, classes, classes))
    kernels.votes_together(answers, posterior, together)
    together = together.transpose(0, 2, 1)  # how often v answered l while k was correct [V, k, l]
    if one_coin:
        hits, votes = np.trace(together, axis1=1, axis2=2), together.sum(axis=(1, 2))
        p = ((hits + SMOOTH) / (votes + 2 * SMOOTH))[:, None, None]
        same = np.eye(classes, dtype=bool)
        return Annotators(np.log(np.where(same, p, (1 - p) / (classes - 1))), np.full(classes, -np.log(classes)))
    confusion, prior = together + SMOOTH, posterior.sum(axis=0) + SMOOTH
    return Annotators(np.log(confusion / confusion.sum(axis=2, keepdims=True)), np.log(prior / prior.sum()))


def _expected(answers: NDArray[np.int32], model: Annotators) -> Matrix:
    """The E step: how likely each answer is the correct one [Q, K]."""
    from steelyard.voting import kernels

    z = np.tile(model.log_prior, (len(answers), 1))
    kernels.add_evidence(answers, np.ascontiguousarray(model.log_confusion.transpose(0, 2, 1)), z)
    z = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(z / z.sum(axis=1, keepdims=True), np.float64)
