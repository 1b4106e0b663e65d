"""Questions kept apart from the fit, to test the error of the vote on (confidence/risk_control.py)."""

from __future__ import annotations

from abc import ABC
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import CalibrationError, PlanError, SettingError
from steelyard.voting.confidence.risk_control import RiskControl, control_risk
from steelyard.voting.fitting.folds import shuffled_rank
from steelyard.voting.methods.base.calibration_checks import FEWEST_QUESTIONS
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import within
from steelyard.voting.pools.arrays import Floats
from steelyard.voting.pools.pool import LabelledPool, Pool

P = TypeVar("P", bound=Pool)
Seen = NDArray[np.float64] | None
Pair = tuple[Seen, Seen]  # how sure verdicts are, and which of them are correct (1 or 0)
LARGEST_SHARE = 0.9


class RiskControlled(Method, ABC):
    """A method that says how sure its verdicts are, and tests that on questions kept apart from the fit.

    A subclass has the settings `reserve` and `seed` and the four learned fields.
    """

    reserve: float
    seed: int
    out_of_fold_confidence_: Seen  # confidence in verdicts on other folds, and
    out_of_fold_correct_: Seen  # which of these are correct
    reserved_confidence_: Seen  # the same of the reserved questions
    reserved_correct_: Seen

    def _fit(self, pool: Pool) -> None:
        seen, reserved = parted(pool, self.reserve, self.seed)
        super()._fit(seen)
        self.reserved_confidence_ = self.reserved_correct_ = np.empty(0)
        if reserved is not None:
            self.fitted_on_ = self._provenance(pool)
            labelled = cast(LabelledPool, self.mixed(reserved))
            verdicts = self._decide(labelled.unlabelled())
            confidence = self._p_correct(verdicts)
            if confidence is not None:
                self.reserved_confidence_ = confidence
                self.reserved_correct_ = verdicts.correct(labelled).astype(np.float64)
            self._learn_from_reserved(labelled)

    def _learn_from_reserved(self, labelled: LabelledPool) -> None:
        """Learn what else the reserved questions say; a method with probabilities of all answers overrides it."""

    def risk_control(self, risk: float, confidence_level: float = 0.9) -> RiskControl:
        """Return from which confidence on to answer, so that the error stays within `risk`."""
        learned, reserved = self._held_out()
        return risk_control_by(learned, reserved, risk, confidence_level)

    def questions_reserved(self) -> int:
        """How many questions of the calibration set were kept apart."""
        return 0 if self.reserved_confidence_ is None else len(self.reserved_confidence_)

    def _held_out(self) -> tuple[Pair, Pair]:
        """How sure the verdicts are, and which are correct: out of fold, and of the reserved questions."""
        return (
            (self.out_of_fold_confidence_, self.out_of_fold_correct_),
            (self.reserved_confidence_, self.reserved_correct_),
        )


def check_reserve(reserve: float) -> None:
    """Refuse a share that leaves nothing to learn from."""
    if not 0 <= reserve <= LARGEST_SHARE:
        raise SettingError(f"reserve must lie between 0 and {LARGEST_SHARE}, not {reserve}")


def parted(pool: P, reserve: float, seed: int) -> tuple[P, P | None]:
    """The questions to learn from, and those kept apart, if any; with scores, some of the first must have one."""
    reserved = shuffled_rank(pool, seed) < round(reserve * pool.n_questions)
    if not reserved.any():
        return pool, None
    seen = pool.take(np.flatnonzero(~reserved))
    unscored = seen.scores is not None and bool(np.isnan(seen.scores).all())
    if seen.n_questions < FEWEST_QUESTIONS or unscored:
        which = "" if seen.scores is None else " with scores"
        raise CalibrationError(
            f"reserve={reserve:g} leaves {seen.n_questions} of {pool.n_questions} questions to fit on: "
            f"reserve less, or label more, so that {FEWEST_QUESTIONS}{which} are left"
        )
    return seen, pool.take(np.flatnonzero(reserved))


def risk_control_by(learned: Pair, reserved: Pair, risk: float, confidence_level: float) -> RiskControl:
    """The threshold that holds the error of these verdicts: on questions of the fit, out of fold, and kept apart."""
    if learned[0] is None:
        raise CalibrationError(
            "no probability was learned, so the risk cannot be controlled: fit a plan with steelyard fit --method "
            "calibrated --set reserve=0.5"
        )
    if reserved[0] is None or not len(reserved[0]):
        raise CalibrationError(
            "this plan reserved no questions, and a risk must be tested on questions the vote has not learned "
            "from: fit it again with reserve=0.5 (steelyard fit --set reserve=0.5)"
        )
    pairs = [(cast(Floats, confidence), cast(Floats, correct) > 0) for confidence, correct in (learned, reserved)]
    return control_risk(*pairs, risk=risk, confidence_level=confidence_level)


def check_held_out(*pairs: Pair) -> None:
    """Refuse verdicts, read from a plan, that no fit has made."""
    if any(c is None or r is None or len(c) != len(r) or not within(0, 1, c, r) for c, r in pairs):
        raise PlanError("its held-out confidences are damaged")
