"""Confidence: stop when the verdict is likely enough to be right.

The probability is the method's own, which it has learned for every number of samples
(confidence/correctness_model.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import SettingError
from steelyard.voting.stopping.stopping_rule import PrefixVotes, Rule


@dataclass(frozen=True)
class Confidence(Rule):
    """Stop when P(right) reaches the threshold; only for methods that learn their confidence (`calibrated`)."""

    name: ClassVar[str] = "confidence"
    thresholds: ClassVar = (*(i / 50 for i in range(20, 50)), 0.99, 0.995)

    threshold: float = 0.95

    def signal(self, prefix: PrefixVotes) -> NDArray[np.float64]:
        if not prefix.learned:
            raise SettingError(
                "the rule 'confidence' needs a method that learns the probability to be right: "
                "fit 'calibrated', or stop by 'beta'"
            )
        return prefix.confidence

    def describe(self, prefix: PrefixVotes) -> str:
        return f"the verdict is right with probability {self.signal(prefix)[0, -1]:.3f} (threshold {self.threshold:g})"
