"""Ways to spend on a committee: what a purchase costs and gives with its votes alone, and with scores on demand.

    cost of a question = sum over its samples of what each cost + sum over texts read of the price of such a score

Votes alone are weighed by the committee. With scores it is tried too and, where all that is bought is scored, so is
`calibrated`, which knows more of scores and nothing of who gave a response. On calibration questions every verdict is
one of a fit on the other folds; on others it is that of a fit on all of the calibration questions. A question that none
of the bought sources answered costs nothing and is not correct.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.committee_prices import PricedPool, paid
from steelyard.evaluation.crossfit_asking import FOLDS, CrossfitAsking
from steelyard.evaluation.joint_search import MARGINS
from steelyard.evaluation.purchase import Purchase
from steelyard.foundation.errors import SteelyardWarning
from steelyard.voting.fitting.folds import fold_of
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.calibrated import CalibratedVote
from steelyard.voting.methods.committee import CommitteeVote
from steelyard.voting.on_demand import asking_rule
from steelyard.voting.on_demand.base_rule import replay
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Way:
    """One way to spend: what is bought, and by which margin scores are asked for; without one none is."""

    bought: Purchase
    method: str
    margin: float | None
    scores: Vector  # [Q, S] texts read of every source
    cost: Vector  # [Q]
    correct: Vector  # [Q]

    @property
    def mean(self) -> float:
        """The mean cost per question."""
        return float(self.cost.mean())

    @property
    def key(self) -> tuple[Purchase, str, float | None]:
        """What tells it from other ways."""
        return self.bought, self.method, self.margin


class CommitteeWays:
    """Ways to spend of one method, learned on calibration questions."""

    def __init__(self, method: CommitteeVote, cal: PricedPool, *, seed: int = 0) -> None:
        self.cal, self.seed = cal, seed
        self.committee, calibrated = method.name, CalibratedVote(seed=seed)
        self.methods: dict[str, Method] = {method.name: method, calibrated.name: calibrated}
        self.quick: dict[str, Method] = {**self.methods, method.name: method.without_confidence()}
        self._crossfits: dict[tuple[Purchase, str], CrossfitAsking] = {}

    def counted(self, bought: Purchase) -> Way:
        """The votes alone."""
        part, where = bought.of(self.cal.pool)
        fold, code = fold_of(part, FOLDS, self.seed), np.full(part.n_questions, -1, np.int32)
        for k in range(FOLDS):
            voter = _fitted(self.quick[self.committee], part.take(np.flatnonzero(fold != k)))
            code[fold == k] = voter.decide(part.take(np.flatnonzero(fold == k)).unlabelled()).code
        nothing = np.zeros(part.n_responses, bool)
        return _way(bought, self.committee, None, self.cal, part, where, nothing, _correct(part, code))

    def asked(self, bought: Purchase) -> list[Way]:
        """With the scores that each margin asks for; none where the fit finds that no score says anything."""
        part, where = bought.of(self.cal.pool)
        ways = []
        for name in self.methods if bought == bought.all_scored else [self.committee]:
            heard = self._as_heard(name, part)
            voter = _fitted(self.quick[name], heard)
            if not voter.reads_scores():
                continue
            crossfit = self._crossfits[bought, name] = CrossfitAsking.of(voter, heard, seed=self.seed)
            for margin in MARGINS:
                _, seen, code = crossfit.replayed(margin)
                ways.append(_way(bought, name, margin, self.cal, part, where, was_asked(seen), _correct(part, code)))
        return ways

    def voter(self, way: Way) -> Method:
        """The method as it votes when it spends so, fitted on all calibration questions."""
        part = self._as_heard(way.method, way.bought.of(self.cal.pool)[0])
        voter = _fitted(self.methods[way.method], part)
        if way.margin is not None:
            crossfit = CrossfitAsking.of(voter, part, seed=self.seed)
            nothing, *_ = crossfit.replayed(0.0)
            asking, seen, _ = crossfit.replayed(way.margin)
            voter.asking_ = crossfit.with_confidence(replace(asking, gain=nothing.loss), seen)
        return voter

    def measured(self, way: Way, others: PricedPool) -> Way:
        """What a way costs and gives on other questions."""
        part, where = way.bought.of(others.pool)
        voter = _fitted(self.quick[way.method], self._as_heard(way.method, way.bought.of(self.cal.pool)[0]))
        heard = self._as_heard(way.method, part).unlabelled()
        asked = np.zeros(part.n_responses, bool)
        if way.margin is not None:
            voter.asking_ = replace(self._crossfits[way.bought, way.method].start, margin=way.margin)
            heard = replay(asking_rule("expected"), voter, heard)
            asked = was_asked(heard)
        correct = voter.decide(heard).correct(part)
        return _way(way.bought, way.method, way.margin, others, part, where, asked, correct)

    def _as_heard(self, name: str, part: LabelledPool) -> LabelledPool:
        """What a method is told: all but the committee do not know who gave a response."""
        if name == self.committee:
            return part
        return replace(part, source=None, sources=(), origin=replace(part.origin, source=None))


def _fitted(method: Method, pool: LabelledPool) -> Method:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteelyardWarning)  # of many fits, about the same questions
        return deepcopy(method).fit(pool)


def was_asked(pool: Pool) -> Bools:
    """Which responses the verifier was asked for [R]."""
    return np.ones(pool.n_responses, bool) if pool.asked is None else pool.asked


def texts_read(part: LabelledPool, sources: tuple[str, ...], asked: Bools) -> Vector:
    """How many texts of every source the verifier read [Q, S]; one that two sources wrote is the first one's."""
    source = np.array([sources.index(name) for name in part.sources])[paid(part)[0]]
    question = part.spread(np.arange(part.n_questions))
    text = np.arange(part.n_responses) if part.text is None else part.text
    rows = np.flatnonzero(asked)
    _, first = np.unique(np.stack((question[rows], text[rows])), axis=1, return_index=True)
    key = question[rows[first]] * len(sources) + source[rows[first]]
    read = np.bincount(key, minlength=part.n_questions * len(sources)).astype(np.float64)
    return read.reshape(part.n_questions, len(sources))


def _way(
    bought: Purchase,
    method: str,
    margin: float | None,
    priced: PricedPool,
    part: LabelledPool,
    where: Ints,
    asked: Bools,
    correct: Bools,
) -> Way:
    """Put together what was found on the questions that have anything of a purchase."""
    size, sources = priced.pool.n_questions, priced.pool.sources
    heeded = np.array([bought.scored[sources.index(name)] for name in part.sources])[paid(part)[0]]
    scores, cost, right = np.zeros((size, len(sources))), np.zeros(size), np.zeros(size)
    scores[where] = texts_read(part, sources, asked & heeded)
    cost[where] = np.bincount(part.spread(np.arange(part.n_questions)), paid(part)[1], part.n_questions)
    right[where] = correct
    return Way(bought, method, margin, scores, cost + scores @ priced.score, right)


def _correct(part: LabelledPool, code: NDArray[np.int32]) -> Bools:
    found: Bools = (code >= 0) & part.answer_correct[part.base + np.maximum(code, 0)]
    return found
