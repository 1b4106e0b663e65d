"""The optimal vote without the leak: no response is scored with a density that saw it.

Densities come from the other half of the same question's responses (samples of the other parity)
with their labels; q_M is the question's true accuracy. Still an oracle, but one whose scores must
carry a signal to help: the honest bound next to `optimal`.
"""

from dataclasses import dataclass
from typing import ClassVar

from steelyard.voting.methods.optimal import OptimalVote


@dataclass(repr=False, eq=False)
class OptimalCrossfitVote(OptimalVote):
    """The optimal vote with weights from the other half of the question: what knowing its scores would really buy.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> honest = sy.accuracy(sy.paper.OptimalCrossfitVote().fit(cal).predict(test), test)
    >>> honest <= sy.accuracy(sy.paper.OptimalVote().fit(cal).predict(test), test)
    True
    """

    name: ClassVar[str] = "optimal-crossfit"
    colour: ClassVar[str | None] = "#8c7a00"
    crossfit: ClassVar[bool] = True
