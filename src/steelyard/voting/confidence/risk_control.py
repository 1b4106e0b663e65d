"""Selective prediction with risk control: a threshold on the confidence, tested on questions kept apart.

Learn then test: candidate thresholds, and the one to begin with, come from the questions the vote was fitted on
(out of fold). From there downwards each is tested on the reserved questions,

    H: the error among answered questions is above `risk`,   p = P(Bin(answered, risk) <= errors)

and the last one before the first that is not rejected at 1 - confidence_level is taken. Testing in an order fixed
beforehand, the error is above `risk` with a probability of at most 1 - confidence_level, however good the confidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, lgamma, log, log1p

import numpy as np

from steelyard.foundation.errors import CalibrationError, SettingError
from steelyard.voting.pools.arrays import Bools, Floats

CANDIDATES = 50


@dataclass(frozen=True)
class RiskControl:
    """A threshold, and what was seen at it on the reserved questions."""

    risk: float
    confidence_level: float
    threshold: float  # answer where the confidence is at least this
    coverage: float  # share of the reserved questions answered
    error: float  # among those
    questions: int  # reserved


def control_risk(
    learned: tuple[Floats, Bools], reserved: tuple[Floats, Bools], *, risk: float, confidence_level: float = 0.9
) -> RiskControl:
    """Choose the threshold; each pair holds confidences and what was right."""
    for name, value in (("risk", risk), ("confidence_level", confidence_level)):
        if not 0 < value < 1:
            raise SettingError(f"{name} must lie between 0 and 1, not {value}")
    confidence, correct = reserved
    fewest = ceil(log(1 - confidence_level) / log1p(-risk))
    if len(correct) < fewest:
        raise CalibrationError(
            f"an error of at most {risk:.0%} cannot be shown with {len(correct)} reserved questions: even without a "
            f"mistake it takes {fewest}; label more questions, reserve a larger share or accept a higher risk"
        )
    candidates = np.unique(np.quantile(learned[0], np.linspace(0, 1, CANDIDATES, endpoint=False)))[::-1]
    begin = int(np.argmin([_chance(*learned, threshold, risk) for threshold in candidates]))
    chosen = None
    for threshold in candidates[begin:].tolist():
        if _chance(confidence, correct, threshold, risk) > 1 - confidence_level:
            break
        chosen = threshold
    if chosen is None:
        raise CalibrationError(
            f"no threshold holds the error at {risk:.0%} with probability {confidence_level:.0%} on {len(correct)} "
            "reserved questions: accept a higher risk, or label more questions"
        )
    answered = confidence >= chosen
    return RiskControl(
        risk, confidence_level, chosen, float(answered.mean()), float(1 - correct[answered].mean()), len(correct)
    )


def _chance(confidence: Floats, correct: Bools, threshold: float, risk: float) -> float:
    """How likely so few errors are if the error is `risk`; 1 where nothing is answered."""
    answered = confidence >= threshold
    return binomial_tail(int((answered & ~correct).sum()), int(answered.sum()), risk)


def binomial_tail(k: int, n: int, p: float) -> float:
    """Return P(Bin(n, p) <= k).

    >>> round(binomial_tail(1, 3, 0.5), 6), binomial_tail(0, 0, 0.1)
    (0.5, 1.0)
    """
    terms = (lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) + (n - i) * log1p(-p) for i in range(k + 1))
    return min(1.0, sum(map(exp, terms)))
