"""What every asking rule is: which responses to ask the verifier for next, from what it has said so far.

A rule sees a pool with some scores asked and returns the next ones to ask; none for a question that needs no more. It
is a pure function of that, so the walk is the same online, in a replay and after a restart, whoever answers first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.on_demand.bounds import AnswerBounds
from steelyard.voting.on_demand.learned import Asking
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import LabelledPool, Pool


class Voter(Protocol):
    """A fitted method, as a rule knows it."""

    asking_: Asking | None

    def mixed(self, pool: Pool) -> Pool:
        """The pool as the method reads it, with one score per response, those not asked filled in."""

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Return the weight of every response [R]."""

    def heeds_scores(self, pool: Pool) -> Bools:
        """Of which responses a score can change anything [R]."""

    def bounds(self, pool: Pool) -> AnswerBounds | None:
        """Between what totals every answer must end, whatever is said of what was not asked."""


class AskingRule(ABC):
    """A rule that says what to ask next; one class per file of rules/, named as users type it."""

    name: ClassVar[str]

    @abstractmethod
    def check(self, voter: Voter) -> None:
        """Refuse a plan for which this rule cannot work, in one line that says which can."""

    @abstractmethod
    def next(self, voter: Voter, pool: Pool) -> Bools:
        """Return which responses to ask for now [R], copies of a text together; none where a question is done."""


def replay(rule: AskingRule, voter: Voter, pool: Pool) -> Pool:
    """Walk over a pool whose scores are all known; return it with only those that the rule would have asked."""
    rule.check(voter)
    bare = pool.unlabelled() if isinstance(pool, LabelledPool) else pool
    asked = np.zeros(pool.n_responses, bool)
    question, active = pool.spread(np.arange(pool.n_questions)), np.ones(pool.n_questions, bool)
    while active.any():
        rows = np.flatnonzero(active[question])
        part = bare.take(np.flatnonzero(active)).only_asked(asked[rows])
        more = np.zeros(len(rows), bool) if part.asked is None else rule.next(voter, part) & ~part.asked
        asked[rows[more]] = True
        active[:] = False
        active[question[rows[more]]] = True
    return pool.only_asked(asked)
