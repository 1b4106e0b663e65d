"""Several scores made one without any label: what they have in common is whether the response is correct.

    x_v = (z_v - mean_v) / spread_v = a_v t + noise_v   within a question,   t = +1 or -1: correct, or not
    cov(x_u, x_v) = a_u a_v                             if the noises of two verifiers have nothing in common
    log-odds of correct = 2 sum_v a_v x_v / (1 - a_v^2) for noise that is normal, as many correct as not

So the covariance within questions is of rank one beside its diagonal and tells how good each verifier is: the spectral
meta-learner (Parisi et al. 2014) with scores in place of judgements, and the second-order statistics that Weaver (Saad-
Falcon et al. 2025, arXiv 2506.18203) and FUSE (arXiv 2604.18547) fit to verifiers; a triplet u, v, w of verifiers gives
a_u^2 = C_uv C_uw / C_vw, and the rank-one fit uses all triplets at once.

Verifiers also share mistakes, so these log-odds are far too sure, and the best-looking verifiers are not surely the
best. Three precautions, each of which gains on the bundled grid and on RewardMATH (docs/mixing.md):

    c_v = (w_v / sum w + 1 / V) / 2,  w_v = a_v / (1 - a_v^2)   half by the fit, half alike
    the total has a standard deviation of at most STEEPEST      log-odds of +-100 make many scores exactly 1, hence ties
    a score at the 90 % quantile becomes 1/2                    so that a good response outweighs several poor ones

What it cannot know: whether what verifiers share is correctness or, say, style. Only labels tell. And most must be
better than chance: a verifier that goes against them is left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ScoreError, SteelyardNote
from steelyard.voting.fitting.mixing import Columns, Mix, known_everywhere
from steelyard.voting.fitting.solvers import rank_one
from steelyard.voting.pools.arrays import Bools, Codes, Ints
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.scores import expit, in_unit_range
from steelyard.voting.tally import tally

Array = NDArray[np.float64]
FEWEST = 3  # scores: two agree with each other as much as the one does with the other
HIGHEST_LOADING = np.sqrt(0.95)  # of a score that is never wrong
CHANCE = 3.0  # standard errors: a smaller covariance counts as 0
LEAST_AGAINST = 0.05  # correlation with the fitted half, below 0, of a verifier that goes against the others
STEEPEST = 4.0
QUANTILE = 0.9
GAINED = (  # docs/mixing.md
    "20 labels gained 19 points where it was 54 % (RewardMATH); on the grid 6 where it was 68 %, none where it was 83 %"
)


def equal_mix(pool: Pool) -> Mix:
    """The mean of the logits of the scores, or of their ranks if one is outside [0, 1]; a column counts once."""
    columns = _columns(pool)
    share = Verifiers.of(pool.origin.parts).share
    intercept = float(share @ columns.mean)
    return Mix(pool.origin.parts, share * columns.spread, columns.mean, columns.spread, intercept, columns.ranks)


def covariance_mix(pool: Pool) -> Mix:
    """Learn from several scores of a pool how to make them one; labels are not read."""
    if pool.parts is None or pool.parts.shape[1] < FEWEST:
        count = 1 if pool.parts is None else pool.parts.shape[1]
        raise ScoreError(
            f"mix=covariance needs {FEWEST} scores or more, as two cannot tell which of them is better, and there is "
            f"{count}: read the table with {argument('score', 'ONE+OTHER+THIRD')}, or leave mix as it is"
        )
    columns, verifiers = _columns(pool), Verifiers.of(pool.origin.parts)
    question = pool.spread(np.arange(pool.n_questions))[pool.readable]
    x = columns.x @ verifiers.average  # one column per verifier
    a, spread = loadings(x, question)
    w = 2 * a / (1 - a**2) / np.where(spread > 0, spread, 1.0)
    if not w.any():  # nothing in common: they count the same
        return equal_mix(pool)
    fitted = x @ w
    leads = _within_questions(x, question).T @ fitted / (len(x) * fitted.std())
    agrees = (spread > 0) & (leads > -LEAST_AGAINST * spread)
    c = np.where(agrees, w / w.sum() + 1 / agrees.sum(), 0.0) / 2
    c *= min(STEEPEST, float(fitted.std())) / float((x @ c).std())
    _note_agreement(pool, x, a)
    coefficient = np.where(columns.spread > 0, verifiers.average @ c, 0.0)
    intercept = -float(np.quantile(x @ c, QUANTILE))
    return Mix(pool.origin.parts, coefficient, columns.mean, columns.spread, intercept, columns.ranks)


@dataclass(frozen=True)
class Verifiers:
    """Which scores are reducers of the same steps, and so of one verifier."""

    average: Array  # [V, W] takes the mean over the scores of each of W verifiers

    @classmethod
    def of(cls, names: Sequence[str]) -> Verifiers:
        """Group the scores by column.

        >>> Verifiers.of(["judge", "prm:last", "prm:min"]).average.tolist()
        [[1.0, 0.0], [0.0, 0.5], [0.0, 0.5]]
        """
        columns = [name.rpartition(":")[0] or name for name in names]
        member = np.array([[float(column == other) for other in dict.fromkeys(columns)] for column in columns])
        return cls(member / member.sum(axis=0))

    @property
    def share(self) -> Array:
        """The part of each score in a mean over verifiers [V]."""
        return np.asarray(self.average.mean(axis=1))


def loadings(x: Array, question: Ints) -> tuple[Array, Array]:
    """Return a [V], how much each column has of what all share within questions, and their spreads there [V]."""
    within, known = _within_questions(x, question), x != 0
    spread = np.sqrt((within**2).sum(axis=0) / np.maximum(known.sum(axis=0), 1))
    spread = np.where(spread > 1e-9, spread, 0.0)
    standard = within / np.where(spread > 0, spread, 1.0)
    both = known.T.astype(np.float64) @ known.astype(np.float64)
    covariance = (standard.T @ standard) / np.maximum(both, 1.0)
    covariance[np.abs(covariance) < CHANCE / np.sqrt(np.maximum(both, 1.0))] = 0.0
    np.fill_diagonal(covariance, 0.0)
    return rank_one(covariance, 0.0, float(HIGHEST_LOADING)), spread


def _within_questions(x: Array, question: Ints) -> Array:
    """Columns less their means over the known values of each question; 0 where a value is missing [R, V]."""
    known = x != 0
    result = np.empty_like(x)
    for v in range(x.shape[1]):
        count = np.maximum(np.bincount(question, known[:, v]), 1)
        result[:, v] = np.where(known[:, v], x[:, v] - (np.bincount(question, x[:, v]) / count)[question], 0.0)
    return result


def _columns(pool: Pool) -> Columns:
    values = known_everywhere(pool)
    return Columns.of(values[pool.readable], ranked=not in_unit_range(values))


def _note_agreement(pool: Pool, x: Array, a: Array) -> None:
    """Say how often two halves of the verifiers choose the same answer, and what labels are good for."""
    order = np.argsort(-a, kind="stable")
    one, other = (_chosen(pool, x[:, half].sum(axis=1)) for half in (order[::2], order[1::2]))
    decided: Bools = (one >= 0) & (other >= 0)
    share = float((one == other)[decided].mean()) if decided.any() else 1.0
    warnings.warn(
        f"mixed without labels: two halves of the scores choose the same answer for {share:.0%} of the questions, and "
        f"only labels tell whether it is the correct one. {GAINED}",
        SteelyardNote,
        stacklevel=6,
    )


def _chosen(pool: Pool, total: Array) -> Codes:
    """The answer that a vote by a total of scores [R'] chooses [Q]."""
    scores = np.zeros(pool.n_responses)
    u = total / max(float(total.std()), 1e-9)
    scores[pool.readable] = expit(STEEPEST * (u - np.quantile(u, QUANTILE)))
    return tally(replace(pool, scores=scores, parts=None), scores).code
