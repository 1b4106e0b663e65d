"""What `linear` and `logit` share: the weight is the evidence of a score minus one offset.

Four rules place the offset, `likelihood` also with a free slope beside it. All are computed at every
fit (they cost milliseconds) and stored, so that a plan shows how much the choice of rule matters;
`rule` says which one votes.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import CalibrationError, PlanError, SettingError, did_you_mean
from steelyard.voting.fitting.offset_curve import Curve, intervals, lines
from steelyard.voting.fitting.offset_rules import bagged, grid, likelihood, likelihood_with_slope
from steelyard.voting.methods.base.guarded import Guarded
from steelyard.voting.methods.base.plan import LARGE
from steelyard.voting.methods.base.setting import FARTHEST, check_seed, setting, within
from steelyard.voting.on_demand.bounds import AnswerBounds, within_range
from steelyard.voting.pools.arrays import Floats
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.score_weights import shifted
from steelyard.voting.tally import quantize, quantize_known

RULES = ("bagged", "exact", "grid", "likelihood", "likelihood-slope")


@dataclass(repr=False, eq=False)
class OffsetVote(Guarded):
    """w(p) = evidence(p) - offset. A missing score has the mean evidence of the calibration set."""

    learns: ClassVar[bool] = True

    rule: str = setting("bagged", "how to choose b: bagged, exact, grid, likelihood or likelihood-slope", RULES)
    points: int = setting(101, "points that the rule grid tries")
    seed: int = setting(0, "random seed of the fit")

    offset_: float | None = field(default=None, init=False)
    offsets_: dict[str, float] = field(default_factory=dict, init=False)  # by rule
    slope_: float | None = field(default=None, init=False)  # of the likelihood with a free slope
    prior_: float = field(default=0.0, init=False)  # evidence of a missing score
    top_: float = field(default=0.0, init=False)  # the curve: the largest evidence,
    limit_: float = field(default=0.0, init=False)  # the count at minus infinity,
    edges_: NDArray[np.float64] | None = field(default=None, init=False)  # the steps
    correct_: NDArray[np.float64] | None = field(default=None, init=False)  # and the counts between them

    @abstractmethod
    def evidence(self, p: Floats) -> NDArray[np.float64]:
        """What is summed before the offset is taken off; it rises with the score."""

    @abstractmethod
    def score_at(self, offset: float) -> float:
        """The score whose evidence is `offset`."""

    @abstractmethod
    def grid_offsets(self) -> NDArray[np.float64]:
        """The offsets the paper's grid search tries."""

    @property
    def b(self) -> float:
        """The score at which a weight turns negative."""
        return self.score_at(self._fitted_offset)

    @property
    def curve_(self) -> Curve:
        """Accuracy on the calibration set over the offset (in units of evidence)."""
        if self.edges_ is None or self.correct_ is None or self.fitted_on_ is None:
            raise CalibrationError(f"{type(self).__name__} is not fitted: call fit(labelled)")
        counts = self.correct_.astype(np.int64)
        return Curve(self.edges_, counts, self.fitted_on_.questions, int(self.limit_), self.top_)

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        return self._guarded(shifted(self._filled(pool.known_scores), self._fitted_offset))

    def by_response(self) -> bool:
        return True

    def _bounds(self, pool: Pool) -> AnswerBounds | None:
        ends = shifted(self._filled(np.array([0.0, 1.0, np.nan])), self._fitted_offset)
        return self._guarded_bounds(pool, within_range(pool, self.weigh(pool), ends))

    def weight(self, score: float) -> float:
        return float(self._guarded(shifted(self._filled(np.array([score], np.float64)), self._fitted_offset))[0])

    def summary(self) -> dict[str, Any]:
        by_rule = {f"b_{rule}": _plain(self.score_at(offset)) for rule, offset in self.offsets_.items()}
        return {**super().summary(), "b": _plain(self.b), **by_rule}

    @property
    def _fitted_offset(self) -> float:
        if self.offset_ is None:
            raise CalibrationError(f"{type(self).__name__} is not fitted: call fit(labelled)")
        return self.offset_

    def _filled(self, p: Floats) -> NDArray[np.float64]:
        z = self.evidence(p)
        return quantize_known(z, self.prior_)

    def check_settings(self) -> None:
        if self.rule not in RULES:
            raise SettingError(f"unknown rule {self.rule!r}: {did_you_mean(self.rule, RULES)}")
        if not 2 <= self.points <= 100_001:
            raise SettingError(f"points must lie between 2 and 100,001, not {self.points}")
        check_seed(self.seed)

    def check_learned(self) -> None:
        edges, counts = self.edges_, self.correct_
        if edges is None or counts is None or len(counts) != len(edges) + 1 or not np.all(np.diff(edges) > 0):
            raise PlanError("its accuracy curve is damaged: it needs rising edges and one more count than edges")
        if not within(0, self.fitted_on_.questions if self.fitted_on_ else 0, counts, self.limit_):
            raise PlanError("its accuracy curve is damaged: it counts more questions than there were")
        if not within(-LARGE, LARGE, edges, self.top_, self.slope_ or 0.0) or not within(
            -FARTHEST, FARTHEST, self.prior_
        ):
            raise PlanError("its prior, its slope or its accuracy curve is not finite")
        if not all(isinstance(offset, float) for offset in self.offsets_.values()):
            raise PlanError("one of its offsets is not a number")
        if set(self.offsets_) != set(RULES):
            raise PlanError(f"its offsets are {sorted(self.offsets_)}, not one for each rule")

    def _learn(self, pool: Pool) -> None:
        observed = self.evidence(pool.known_scores[pool.readable])
        self.prior_ = float(quantize(np.nanmean(observed)))
        evidence = lines(cast(LabelledPool, pool), self._filled(pool.known_scores), pool.known_scores)
        wins = intervals(evidence)
        curve = wins.curve()
        self.slope_, with_slope = likelihood_with_slope(evidence)
        self.offsets_ = {
            "bagged": bagged(wins, pool.rank, seed=self.seed),
            "exact": curve.chosen,
            "grid": grid(evidence, self.grid_offsets()),
            "likelihood": likelihood(evidence),
            "likelihood-slope": with_slope,
        }
        self.offset_ = float(quantize(self.offsets_[self.rule]))
        self.edges_, self.correct_ = curve.edges, curve.correct.astype(np.float64)
        self.limit_, self.top_ = float(curve.limit), curve.top


def _plain(b: float) -> float | str:
    """A number JSON can hold; the limit as a word."""
    return float(b) if np.isfinite(b) else str(b)
