"""The optimal vote without the leak: no response is scored with a density that saw it.

Densities and q_M come from the other half of the same question's responses (samples of the other
parity), with their labels. Still an oracle; the honest bound next to `optimal`.
"""

from dataclasses import dataclass
from typing import ClassVar

from steelyard.methods.optimal import OptimalVote


@dataclass
class OptimalCrossfitVote(OptimalVote):
    """What knowing a question's score distributions would really buy."""

    crossfit: ClassVar[bool] = True
