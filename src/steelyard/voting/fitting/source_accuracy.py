"""How often each voice is correct: what the labels show, drawn to what its agreement with the others says.

    logit prior_v = logit p_v + shift                   p_v by agreement (consensus.py); one shift for all
    chance_v = (hits_v + m prior_v) / (asked_v + m)     m: how many labels the prior is worth

The shift makes the prior fit the labels. m is what makes the hits of all voices most likely (a beta-binomial model),
and at most the number of questions that the prior has seen beyond the labelled ones. A voice with few labels keeps
close to its prior, which is itself drawn to the mean of all: that is partial pooling.
"""

from __future__ import annotations

from math import lgamma

import numpy as np

from steelyard.voting.fitting.consensus import Consensus
from steelyard.voting.fitting.joint_weights import LEAST, MOST, joint_weights, mean_correlation
from steelyard.voting.fitting.newton import Vector
from steelyard.voting.fitting.source_votes import SourceVotes
from steelyard.voting.pools.logistic import expit

WORTH = (10, 20, 40, 80, 160, 320, 640)  # labels
HALFWAY = 50  # questions at which labels and consensus say alike how voices err together
FARTHEST = 3.0  # of the shift


def prior_weights(votes: SourceVotes, consensus: Consensus, unlabelled: int) -> Vector:
    """Return what the voices are worth [V], by the labels of these votes and the consensus of those and others."""
    hit, asked = votes.hits()
    chance = shrunk_chances(hit.sum(axis=0), asked.sum(axis=0), consensus.p, unlabelled)
    part = len(hit) / (len(hit) + HALFWAY)
    same_error = float(np.exp(part * np.log(votes.same_error()) + (1 - part) * np.log(consensus.same_error)))
    correlation = part * mean_correlation(hit, asked) + (1 - part) * consensus.correlation
    return joint_weights(chance, same_error, correlation)


def shrunk_chances(hits: Vector, asked: Vector, p: Vector, unlabelled: int) -> Vector:
    """Return the chance that each voice is correct [V].

    >>> shrunk_chances(np.array([8.0, 0.0]), np.array([10.0, 0.0]), np.array([0.8, 0.5]), 0).round(2)
    array([0.8, 0.5])
    """
    prior = _shifted(hits, asked, np.clip(p, LEAST, MOST))
    worth = [m for m in WORTH if m <= max(WORTH[0], unlabelled)]
    m = max(worth, key=lambda m: sum(map(_beta_binomial, hits, asked, prior, [m] * len(p))))
    return (hits + m * prior) / (asked + m)


def _shifted(hits: Vector, asked: Vector, p: Vector) -> Vector:
    """Move all log-odds alike until the expected hits are those seen."""
    z, shift = np.log(p / (1 - p)), 0.0
    for _ in range(50):
        now = expit(z + shift)
        slope = float((asked * now * (1 - now)).sum())
        step = float((hits - asked * now).sum()) / max(slope, 1e-9)
        shift = min(max(shift + min(max(step, -1.0), 1.0), -FARTHEST), FARTHEST)
    return np.clip(expit(z + shift), LEAST, MOST)


def _beta_binomial(hits: float, asked: float, p: float, m: float) -> float:
    """The log-likelihood of the hits where the chance is drawn from Beta(m p, m (1 - p))."""
    a, b = m * p, m * (1 - p)
    return lgamma(a + hits) + lgamma(b + asked - hits) - lgamma(m + asked) - lgamma(a) - lgamma(b) + lgamma(m)
