"""Fixed: the same number of samples for every question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.stopping.stopping_rule import PrefixVotes, Rule


@dataclass(frozen=True)
class Fixed(Rule):
    """Take `cap` samples, whatever they say.

    >>> Fixed(8)
    Fixed(cap=8, least=1, threshold=1.0)
    """

    name: ClassVar[str] = "fixed"

    def signal(self, prefix: PrefixVotes) -> NDArray[np.float64]:
        return np.broadcast_to(prefix.k >= self.cap, prefix.code.shape).astype(np.float64)

    def describe(self, prefix: PrefixVotes) -> str:
        return f"{int(prefix.k[-1])} of {self.cap} samples are in"
