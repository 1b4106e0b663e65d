"""Confidence: stop when the verdict is likely enough to be right.

    P(right after k samples) = sigma(offset(k) + slope(k) c),   c = logit of the method's confidence

A method learns its confidence at the N it was fitted at; a lone sample has no rival and would seem certain. So
offset and slope say what the same confidence is worth after 1, 2, 4, 8, .. samples, straight in log k between
them. They are learned on all prefixes of the calibration questions, from votes that were not fitted on these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Ints
from steelyard.errors import SettingError
from steelyard.stopping._base import Rule, finite
from steelyard.stopping._walk import Walk
from steelyard.weights.logit import expit

SURE = 1e-6
STEPS = 50


@dataclass(frozen=True)
class Confidence(Rule):
    """Stop when P(right) reaches the threshold; only for methods that learn their confidence (`calibrated`)."""

    thresholds: ClassVar = (*(i / 50 for i in range(20, 50)), 0.99, 0.995)

    threshold: float = 0.95
    offsets: tuple[float, ...] = (0.0,)  # after 1, 2, 4, .. samples
    slopes: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (finite(self.offsets) and finite(self.slopes) and 0 < len(self.offsets) == len(self.slopes)):
            raise SettingError("offsets and slopes need as many finite numbers as each other, one at least")

    def signal(self, walk: Walk) -> NDArray[np.float64]:
        if not walk.learned:
            raise SettingError(
                "the rule 'confidence' needs a method that learns the probability to be right: "
                "fit 'calibrated', or stop by 'beta'"
            )
        between = _between(walk.k, len(self.offsets))
        offset, slope = ((between * np.array(part)).sum(axis=1) for part in (self.offsets, self.slopes))
        return np.where(walk.code >= 0, expit(offset + slope * _odds(walk)), 0.0)

    def spoken(self, walk: Walk) -> str:
        return f"the verdict is right with probability {self.signal(walk)[0, -1]:.3f}, {self.threshold:g} asked"

    def learned_from(self, walk: Walk) -> Self:
        """The rule with what confidence is worth on a labelled walk."""
        knots = int(walk.k[-1]).bit_length()
        offsets, slopes = np.split(_fitted(walk, knots), 2)
        return replace(self, offsets=tuple(offsets.tolist()), slopes=tuple(slopes.tolist()))


def _odds(walk: Walk) -> NDArray[np.float64]:
    inside = np.clip(walk.confidence, SURE, 1 - SURE)
    return np.log(inside) - np.log1p(-inside)


def _between(k: Ints, knots: int) -> NDArray[np.float64]:
    """How near each k is to 1, 2, 4, .. in log k: weights that add up to 1 [K, knots].

    >>> _between(np.array([1, 3, 9]), 3).round(2).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.42, 0.58], [0.0, 0.0, 1.0]]
    """
    place = np.minimum(np.log2(k), knots - 1)
    near: NDArray[np.float64] = np.maximum(0.0, 1 - np.abs(place[:, None] - np.arange(knots)))
    return near


def _fitted(walk: Walk, knots: int) -> NDArray[np.float64]:
    """Fit offsets and slopes by Newton steps, held back a little from what the method says itself.

    The prefixes of an octave count as much together as those of any other, and all of them as one vote a question.
    """
    if walk.right is None:
        raise AssertionError("a walk without labels")
    seen = (walk.k <= walk.sizes[:, None]) & (walk.code >= 0)
    weight = (seen / walk.k)[seen]
    weight *= knots * len(walk.sizes) / max(weight.sum(), SURE)
    between = np.broadcast_to(_between(walk.k, knots), (*seen.shape, knots))[seen]
    design = np.hstack((between, between * _odds(walk)[seen][:, None]))
    right = walk.right[seen].astype(np.float64)
    prior = np.repeat((0.0, 1.0), knots)
    theta = prior
    for _ in range(STEPS):
        p = expit(design @ theta)
        slope = design.T @ (weight * (right - p)) - (theta - prior)
        bend = (design.T * (weight * p * (1 - p))) @ design + np.eye(len(theta))
        step = np.linalg.solve(bend, slope)
        theta = theta + step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < 1e-9:
            break
    return theta
