"""Without any label: a voice is worth what its agreement with the others shows.

    a_v = how often voice v gives the answer that the weighted vote of all the others chooses
    p_v = a_v / sqrt(max a)          agreeing means, nearly always, that both are correct: a = p_v * p_consensus,
                                     and the best voice is about as good as the consensus
    w   = joint_weights(p, e, r)     e and r seen against the consensus; again, until nothing changes

The others' vote is without the voice itself: a voice always agrees with itself, and would become a dictator. It starts
from the chances that explain the agreement of pairs best, A_uv = p_u p_v, and keeps to them where voices are few: of
three, the best is the consensus of the two others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.fitting.joint_weights import CLOSEST, LEAST, MOST, joint_weights, mean_correlation
from steelyard.voting.fitting.rank_one import rank_one
from steelyard.voting.fitting.source_votes import SourceVotes, Vector
from steelyard.voting.pools.logistic import expit

ROUNDS = 30
CORRELATED = 2000  # questions
TRUST = 10  # votes at which a voice's own agreement and that of all count the same
START_ERROR = 0.3
FEW = 50  # the square of the number of voices at which pairs and consensus count the same
GRAIN = 2.0**20  # weights are multiples of one over this


@dataclass(frozen=True, eq=False)
class Consensus:
    """What the voices' agreement says of each."""

    p: Vector  # [V] the chance that it is correct
    weights: Vector  # [V]
    same_error: float
    correlation: float


def find_consensus(votes: SourceVotes, start: Vector) -> Consensus:
    """Iterate from the chances `start` [V] until the weights stay as they are."""
    weights, correlation, same_error = coarse(joint_weights(start, START_ERROR, 0.0)), CLOSEST, START_ERROR
    p, seen = start, list[Vector]()
    for _ in range(ROUNDS):
        agrees, same_error = agreement(votes, weights)
        asked = (agrees >= 0).astype(np.float64)
        right = np.maximum(agrees, 0.0)
        count, total = asked.sum(axis=0), right.sum(axis=0)
        a = (total + TRUST * total.sum() / max(count.sum(), 1.0)) / (count + TRUST)
        p = _between(start, a / np.sqrt(max(a.max(), 1e-6)))
        every = max(1, len(right) // CORRELATED)
        correlation = mean_correlation(right[::every], asked[::every])
        seen.append(weights)
        weights = coarse(joint_weights(p, same_error, correlation))
        if any(np.array_equal(weights, before) for before in seen[-2:]):
            break
    return Consensus(p, weights, same_error, correlation)


def _between(pairs: Vector, p: Vector) -> Vector:
    """The chances by pairs and by consensus, averaged as log-odds: few voices have no consensus to speak of."""
    part = len(p) ** 2 / (len(p) ** 2 + FEW)
    inside = [np.clip(each, LEAST, MOST) for each in (pairs, p)]
    z = [np.log(each / (1 - each)) for each in inside]
    return expit((1 - part) * z[0] + part * z[1])


def agreement(votes: SourceVotes, weights: Vector) -> tuple[NDArray[np.float64], float]:
    """Return each voice's agreement with the vote of the others [Q, V], -1 where it was not asked, and e."""
    from steelyard.voting import kernels

    pool = votes.pool
    agrees = np.full((pool.n_questions, votes.voices), -1.0)
    same, both = kernels.agreement(pool.starts, pool.width, pool.answer, votes.voice, votes.unit, weights, agrees)
    return agrees, (same + 1) / (both + 2)


def pairwise_chances(said: NDArray[np.int32]) -> Vector:
    """Return the p [V] for which p_u p_v is closest to how often u and v agree; said [Q, V] are answers, -1 = none."""
    there = (said >= 0).astype(np.float64)
    both = there.T @ there
    voices = said.shape[1]
    same = np.array([((said == said[:, [v]]) & (said >= 0)).sum(axis=0) for v in range(voices)], np.float64)
    apart = ~np.eye(voices, dtype=bool)
    usual = same[apart].sum() / max(both[apart].sum(), 1.0)
    rate = (same + TRUST * usual) / (both + TRUST)
    np.fill_diagonal(rate, 0.0)
    return rank_one(rate, 1e-3, 0.999)


def coarse(weights: Vector) -> Vector:
    """Round to multiples of 2^-20: what is equal but for another machine's last bits is equal."""
    return np.asarray(np.rint(weights * GRAIN) / GRAIN)
