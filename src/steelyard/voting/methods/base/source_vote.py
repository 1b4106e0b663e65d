"""What methods share that weigh sources: one weight for every source by name, and what a new one is worth.

    w_i = (weight_s + slope_s (z_i - centre_s)) / N_s

for a response i of source s, z_i the logit of its score, and N_s the samples of its voter in the question: the
source itself, or all sources that repeat each other (fitting/source_votes.py). A source that is missing does not vote;
one that the plan does not know has the mean weight of the others, with a warning.
"""

from __future__ import annotations

import warnings
from abc import ABC
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import PlanError, SteelyardWarning
from steelyard.voting.fitting.source_reliability import Consensus, coarse, find_consensus, pairwise_chances
from steelyard.voting.fitting.source_votes import SourceVotes, find_voters, looked_at, modal_answers
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.setting import FARTHEST, within
from steelyard.voting.pools.arrays import Codes
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.scores import CLIP
from steelyard.voting.score_weights import clipped_logit
from steelyard.voting.tally import quantize

NOBODY = ("",)  # the sources of a pool that does not say who answered
LARGEST = 1e6  # weight
SHOWN = 5  # names in a message


@dataclass(repr=False, eq=False)
class SourceVote(Method, ABC):
    """A vote in which every source has a weight of its own."""

    scored: ClassVar[bool] = False
    weighs_sources: ClassVar[bool] = True

    weights_: dict[str, float] = field(default_factory=dict, init=False)  # by source
    voters_: dict[str, float] = field(default_factory=dict, init=False)  # numbers; those with the same have one voter
    newcomer_: float = field(default=1.0, init=False)  # the weight of a source that was not there

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Give every response its part of what its source is worth."""
        from steelyard.voting import kernels

        names, source = sources_of(pool)
        voter = self._voters(names)
        worth = np.array([self.weights_.get(name, self.newcomer_) for name in names])
        weights = np.empty(pool.n_responses)
        kernels.source_weights(pool.starts, source, voter, worth, self._by_score(pool, names, source), weights)
        return weights

    def _by_score(self, pool: Pool, names: tuple[str, ...], source: Codes) -> NDArray[np.float64]:  # noqa: ARG002
        """What the score of every response adds to the weight of its source [R]; empty: nothing."""
        return np.empty(0)

    def _voters(self, names: tuple[str, ...]) -> Codes:
        """The voter of each of these sources; a new one has its own."""
        voter, new = list[int](), len(set(self.voters_.values()))
        for name in names:
            voter.append(int(self.voters_.get(name, new)))
            new += name not in self.voters_
        return np.array(voter, np.int32)

    def check_pool(self, pool: Pool) -> None:
        super().check_pool(pool)
        if not self.weights_ or (pool.source is None and set(self.weights_) == set(NOBODY)):
            return
        if pool.source is None:
            column = (self.fitted_on_.source if self.fitted_on_ else None) or "llm"
            read = argument("source", column)
            raise PlanError(f"this plan weighs the sources of {column!r}: read the table with {read}")
        present = np.bincount(pool.source, minlength=len(pool.sources)) > 0
        new = [name for name in compress(pool.sources, present.tolist()) if name not in self.weights_]
        if new:
            many = f"{', '.join(new[:SHOWN])}{f' and {len(new) - SHOWN} more' if len(new) > SHOWN else ''}"
            warnings.warn(
                f"the plan does not know {many}: unknown sources vote with the mean weight of those it knows "
                f"({', '.join(list(self.weights_)[:SHOWN])}, ..); fit it again with them, or check the names",
                SteelyardWarning,
                stacklevel=3,
            )

    def check_learned(self) -> None:
        names, numbers = set(self.weights_), set(self.voters_.values())
        floats = [*self.weights_.values(), *numbers, self.newcomer_]
        if set(self.voters_) != names or not all(isinstance(value, float) for value in floats):
            raise PlanError("its sources are damaged")
        if not within(-LARGEST, LARGEST, floats) or numbers != {float(i) for i in range(len(numbers))}:
            raise PlanError("its sources are damaged: a weight or a voter that no fit finds")

    def summary(self) -> dict[str, Any]:
        heaviest = sorted(self.weights_.items(), key=lambda item: (-item[1], item[0]))
        return {**super().summary(), "sources": {name or "all": weight for name, weight in heaviest}}

    def _keep(self, names: tuple[str, ...], voter: Codes, worth: NDArray[np.float64]) -> None:
        """Store what the voters are worth under the names of their sources [S]; a voter of -1 never voted."""
        voted = voter >= 0
        rounded = coarse(worth)
        self.newcomer_ = float(coarse(np.maximum(rounded.mean(keepdims=True), 0.0))[0]) if len(worth) else 1.0
        self.weights_ = {
            name: float(rounded[v]) if v >= 0 else self.newcomer_ for name, v in zip(names, voter.tolist(), strict=True)
        }
        new = iter(range(int(voter.max(initial=-1)) + 1, len(names) + len(worth)))
        self.voters_ = {
            name: float(v if has_voted else next(new))
            for name, v, has_voted in zip(names, voter.tolist(), voted.tolist(), strict=True)
        }


def sources_of(pool: Pool) -> tuple[tuple[str, ...], Codes]:
    """The names of a pool's sources and the code of every response's; one without a name where it does not know."""
    if pool.source is None:
        return NOBODY, np.zeros(pool.n_responses, np.int32)
    return pool.sources, pool.source


def ordered(pool: Any) -> Any:
    """The pool in the order of question ids and sources: what is learned does not depend on the file's order."""
    return pool.take(np.argsort(pool.rank)).by_source()


@dataclass(frozen=True, eq=False)
class SourceVoters:
    """The sources of a pool that gave an answer at all, and their voters."""

    names: tuple[str, ...]  # all that are in the pool
    voter: Codes  # [S] of these; -1: it never gave an answer
    code: Codes  # [R] the voter of every response

    @classmethod
    def of(cls, pool: Pool, *, labels: bool) -> SourceVoters:
        """Find the voters of a pool."""
        names, source = sources_of(pool)
        present = np.bincount(source, minlength=len(names)) > 0
        answering = np.bincount(source[pool.readable], minlength=len(names)) > 0
        dense = np.where(answering, np.cumsum(answering) - 1, -1).astype(np.int32)
        answering_names = tuple(name for name, answers in zip(names, answering, strict=True) if answers)
        voters = (
            find_voters(pool, dense[source], len(answering_names), answering_names, labels=labels)
            if answering_names
            else np.empty(0, np.int32)
        )
        voter = np.where(answering, np.append(voters, -1)[dense], -1).astype(np.int32)
        return cls(
            tuple(name for name, is_in in zip(names, present, strict=True) if is_in), voter[present], voter[source]
        )

    @property
    def voters(self) -> int:
        return int(self.voter.max(initial=-1)) + 1

    def votes(self, pool: Pool, z: NDArray[np.float64] | None = None) -> SourceVotes:
        return SourceVotes.of(pool, self.code, self.voters, z)


def consensus_of(votes: SourceVotes) -> Consensus:
    """What the voters are worth by their agreement alone; one voter, or none, is worth 1."""
    if votes.voters < 2:
        return Consensus(np.full(votes.voters, 0.5), np.ones(votes.voters), 0.5, 0.0)
    some = looked_at(votes.pool, votes.voters)
    rows = np.zeros(votes.pool.n_questions, bool)
    rows[some] = True
    few = votes.take(np.flatnonzero(rows))
    return find_consensus(votes, pairwise_chances(modal_answers(few.pool, few.voter, votes.voters)))


def score_logits(pool: Pool, clip: float = CLIP) -> NDArray[np.float64]:
    """The logits of the scores, NaN where there is none."""
    return quantize(clipped_logit(pool.known_scores, clip))


def plausible(values: dict[str, float], names: set[str]) -> bool:
    """Whether a plan's values by source are there for all, and within the bounds of a score's logit."""
    floats = list(values.values())
    return set(values) == names and all(isinstance(v, float) for v in floats) and within(-FARTHEST, FARTHEST, floats)
