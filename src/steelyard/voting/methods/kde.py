"""The paper's non-parametric vote:

    w(p) = log f1(p) - log f0(p)  +  log(q_M (m - 1) / (1 - q_M))

f1, f0: logit-space densities of the correct and incorrect calibration scores (voting/score_weights.py);
q_M: the mean of a binned calibrator over the question's responses (fitting/llm_reliability.py);
m: the number of distinct readable answers. The second term has three forms:

- "floored", the default: as above, but never below 0. Where the estimated q_M falls below 1/m the
  printed term is negative and more votes count against an answer, even with equal scores.
- "printed": exactly as in the paper.
- "fitted": one constant in its place, put where the offset of `logit` would be; log(m - 1)
  overshoots when wrong answers repeat, as they do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import PlanError, SettingError, did_you_mean
from steelyard.voting.fitting.llm_reliability import (
    BINS,
    bin_reliability,
    log_odds,
    question_reliability,
)
from steelyard.voting.fitting.offset_curve import intervals, lines
from steelyard.voting.fitting.offset_rules import bagged
from steelyard.voting.methods.base.guarded import Guarded
from steelyard.voting.methods.base.plan import LARGE
from steelyard.voting.methods.base.setting import setting, within
from steelyard.voting.on_demand.bounds import AnswerBounds, within_range
from steelyard.voting.pools.arrays import Bools, Floats
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.scores import CLIP
from steelyard.voting.score_weights import check_clip, clipped_logit, density, interpolate, log_ratio, shifted
from steelyard.voting.tally import quantize

RELIABILITIES = ("floored", "printed", "fitted")
NARROWEST, WIDEST = 0.01, 100.0  # bandwidths, in logits
FINEST = 1e-16  # step of a grid, in logits


@dataclass(repr=False, eq=False)
class KDEVote(Guarded):
    """Weight each response by how much likelier its score is for a correct than for an incorrect response.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> vote = sy.paper.KDEVote().fit(cal)
    >>> vote.weight(0.9) > vote.weight(0.1)
    True
    """

    name: ClassVar[str] = "kde"
    colour: ClassVar[str | None] = "#cc79a7"
    learns: ClassVar[bool] = True

    bandwidth: float | None = setting(None, "bandwidth in logits; none: Silverman's rule, for each class")
    bins: int = setting(BINS, "bins of the scores by which the LLM's reliability is learned")
    reliability: str = setting("floored", "the LLM's term: floored, printed (as in the paper) or fitted", RELIABILITIES)
    clip: float = setting(CLIP, "minimum distance of a score from 0 and 1")

    low_: float = field(default=0.0, init=False)
    step_: float = field(default=1.0, init=False)
    ratio_: NDArray[np.float64] | None = field(default=None, init=False)  # log f1 / f0 on the grid
    prior_ratio_: float = field(default=0.0, init=False)  # of a missing score
    shares_: NDArray[np.float64] | None = field(default=None, init=False)  # calibrator, by bin
    prior_share_: float = field(default=0.5, init=False)
    offset_: float = field(default=0.0, init=False)  # used when reliability is "fitted"

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        if self.reliability == "fitted":
            return self._guarded(shifted(quantize(self.prm_term(pool)), self.offset_))
        return self._guarded(quantize(self.prm_term(pool) + self.llm_term(pool)))  # 0 up to rounding is 0

    def by_response(self) -> bool:
        return self.reliability == "fitted" and not self.oracle

    def _bounds(self, pool: Pool) -> AnswerBounds | None:
        if self.oracle:
            return None
        return self._guarded_bounds(pool, self._own_bounds(pool))

    def _own_bounds(self, pool: Pool) -> AnswerBounds:
        table = cast(NDArray[np.float64], self.ratio_)
        ratio = within_range(pool, quantize(self.prm_term(pool)), quantize(np.append(table, self.prior_ratio_)))
        if self.reliability == "fitted":
            return AnswerBounds(shifted(ratio.low, self.offset_), shifted(ratio.high, self.offset_))
        shares = np.append(cast(NDArray[np.float64], self.shares_), self.prior_share_)
        unread = np.zeros(pool.n_responses, bool) if pool.scored is None else ~pool.scored
        lowest, highest = (self._odds(pool, unread, share) for share in (shares.min(), shares.max()))
        return AnswerBounds(ratio.low, ratio.high, lowest, highest)

    def _odds(self, pool: Pool, unread: Bools, share: float) -> NDArray[np.float64]:
        """The LLM's term [Q] where every response that was not requested has one share."""
        shares = cast(NDArray[np.float64], self.shares_)
        q = question_reliability(pool, shares, self.prior_share_, unread=(unread, share))
        odds = log_odds(q, pool.m)
        return np.maximum(odds, 0.0) if self.reliability == "floored" else odds

    def weight(self, score: float) -> float:
        """Return the PRM term, less the fitted constant; what the LLM term adds depends on the question."""
        ratio = self._ratio(np.array([score]))
        weight = shifted(quantize(ratio), self.offset_) if self.reliability == "fitted" else ratio
        return float(self._guarded(weight)[0])

    def prm_term(self, pool: Pool) -> NDArray[np.float64]:
        """Log f1 / f0 at every response's score [R]."""
        return self._ratio(pool.known_scores)

    def llm_term(self, pool: Pool) -> NDArray[np.float64]:
        """The log-odds that the LLM gives the correct answer rather than a given wrong one [R]."""
        return pool.spread(self._odds(pool, np.zeros(pool.n_responses, bool), 0.0))

    def _ratio(self, p: Floats) -> NDArray[np.float64]:
        z = clipped_logit(p, self.clip)
        missing = np.isnan(z)
        table = cast(NDArray[np.float64], self.ratio_)
        ratio = interpolate(np.where(missing, 0.0, z), self.low_, self.step_, table)
        return np.where(missing, self.prior_ratio_, ratio)

    def _learn(self, pool: Pool) -> None:
        labelled = cast(LabelledPool, pool)
        p = labelled.known_scores
        usable = labelled.readable & ~np.isnan(p)
        correct = labelled.correct[usable]
        z = clipped_logit(p[usable], self.clip)
        edge = float(clipped_logit(np.array([1.0]), self.clip)[0])
        f1 = density(z[correct], -edge, edge, self.bandwidth)
        f0 = density(z[~correct], -edge, edge, self.bandwidth)
        ratio = log_ratio(f1, f0)
        self.low_, self.step_, self.ratio_ = ratio.low, ratio.step, ratio.log_f
        self.prior_ratio_ = float(self._ratio(p[usable]).mean())
        self.shares_ = bin_reliability(p[usable], correct, self.bins)
        self.prior_share_ = float(correct.mean())
        wins = intervals(lines(labelled, quantize(self._ratio(p)), p))
        self.offset_ = float(quantize(bagged(wins, pool.rank)))

    def check_settings(self) -> None:
        if self.reliability not in RELIABILITIES:
            raise SettingError(
                f"unknown reliability {self.reliability!r}: {did_you_mean(self.reliability, RELIABILITIES)}"
            )
        if self.bandwidth is not None and not NARROWEST <= self.bandwidth <= WIDEST:
            raise SettingError(f"bandwidth must lie between {NARROWEST} and {WIDEST} logits, not {self.bandwidth}")
        if not 1 <= self.bins <= 1000:
            raise SettingError(f"bins must lie between 1 and 1000, not {self.bins}")
        check_clip(self.clip)

    def check_learned(self) -> None:
        ratio, shares = self.ratio_, self.shares_
        if ratio is None or len(ratio) < 2 or not within(-LARGE, LARGE, ratio, self.prior_ratio_):
            raise PlanError("its densities are damaged")
        if not within(-WIDEST, WIDEST, self.low_) or not within(FINEST, WIDEST, self.step_):
            raise PlanError("its densities are damaged")
        if shares is None or len(shares) != self.bins:
            raise PlanError(f"it must have a share for each of {self.bins} bins")
        if not within(0, 1, shares, self.prior_share_):
            raise PlanError("its shares must lie between 0 and 1")
