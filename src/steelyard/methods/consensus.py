"""Consensus: every source weighs what its agreement with the others shows, without any label.

How the weights are found stands in fitting/consensus.py. What it cannot know: sources that agree in error. Copies are
told, and count as one voice (fitting/voices.py); an error that most sources share wins as it does in any vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from steelyard.confidence.risk_control import RiskControl
from steelyard.errors import CalibrationError
from steelyard.methods.base.source_vote import Heard, SourceVote, consensus_of, ordered
from steelyard.pools.pool import Pool


@dataclass(repr=False, eq=False)
class ConsensusVote(SourceVote):
    """Weigh every source by its agreement with the others; it needs no labels, and reads none.

    >>> answers = [(0, 0 if q % 4 else 1, 0 if q % 3 else 2, 3 + q % 5) for q in range(60)]
    >>> pool = Pool.from_arrays(
    ...     question=[q for q in range(60) for _ in range(4)],
    ...     answer=[answer for row in answers for answer in row],
    ...     source=["gpt", "llama", "qwen", "dice"] * 60,
    ... )
    >>> vote = ConsensusVote().fit(pool)
    >>> vote.weights_["gpt"] > vote.weights_["qwen"] > vote.weights_["dice"]
    True
    """

    name: ClassVar[str] = "consensus"
    colour: ClassVar[str | None] = "#c3a6ee"

    def _learn(self, pool: Pool) -> None:
        pool = ordered(pool)
        heard = Heard.of(pool, labels=False)
        self._keep(heard.names, heard.voice, consensus_of(heard.votes(pool)).weights)

    def risk_control(self, risk: float, confidence_level: float = 0.9) -> RiskControl:  # noqa: ARG002
        """Refuse: without labels nobody has seen how often it is wrong."""
        column = (self.fitted_on_.source if self.fitted_on_ else None) or "COLUMN"
        raise CalibrationError(
            "consensus reads no labels, so nothing says how often it is wrong, and no risk can be controlled: label "
            f"some questions, and vote by the plan of 'steelyard fit FILE --source {column} --set reserve=0.5 -o PLAN'"
        )
