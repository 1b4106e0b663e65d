"""The base class of asking rules: which responses to score next, given the scores so far.

A rule sees a pool with some scores and returns the next ones to request; none for a question that needs no more. It
is a pure function of that, so the walk is the same online, in a replay and after a restart, however scores arrive.
Which answer leads meanwhile is decided on the pool with what was not requested filled in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.on_demand.asking import Asking
from steelyard.voting.on_demand.bounds import AnswerBounds
from steelyard.voting.on_demand.readings import Readings
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.tally import answer_totals as sum_answers


class Voter(Protocol):
    """A fitted method, as a rule knows it."""

    asking_: Asking | None

    def mixed(self, pool: Pool) -> Pool:
        """The pool as the method reads it, with one score per response, those not requested filled in."""

    def weigh(self, pool: Pool) -> NDArray[np.float64]:
        """Return the weight of every response [R]."""

    def uses_scores(self, pool: Pool) -> Bools:
        """Of which responses a score can change anything [R]."""

    def bounds(self, pool: Pool) -> AnswerBounds | None:
        """Bounds on each answer's total over all possible values of the missing scores."""


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
    scored = np.zeros(pool.n_responses, bool)
    question, active = pool.spread(np.arange(pool.n_questions)), np.ones(pool.n_questions, bool)
    while active.any():
        rows = np.flatnonzero(active[question])
        part = bare.take(np.flatnonzero(active)).only_scored(scored[rows])
        more = np.zeros(len(rows), bool) if part.scored is None else rule.next(voter, part) & ~part.scored
        scored[rows[more]] = True
        active[:] = False
        active[question[rows[more]]] = True
    return pool.only_scored(scored)


def leading(voter: Voter, pool: Pool, groups: Readings) -> Bools:
    """The answer with the largest total in every question [K]; of equals the first."""
    totals = answer_totals(voter, pool, groups)
    return groups.one(totals == groups.top(totals))


def answer_totals(voter: Voter, pool: Pool, groups: Readings) -> NDArray[np.float64]:
    """What every answer would total if what was not requested turned out as filled in [K]."""
    totals, _ = sum_answers(pool, voter.weigh(voter.mixed(pool)))
    chosen: NDArray[np.float64] = totals[(np.cumsum(pool.width) - pool.width)[groups.question] + groups.code]
    return chosen
