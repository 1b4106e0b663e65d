"""What a plan has learned about asking: how to fill in what was not asked, how far to go on, and what that is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import PlanError
from steelyard.voting.on_demand.filling import LEAST, Filling
from steelyard.voting.pools.arrays import Bools
from steelyard.voting.pools.logistic import expit
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.verdicts import Verdicts

P = TypeVar("P", bound=Pool)
FAR = 1e6
LEARNED, PROVEN = "expected", "exact"
SURE = 1e-6


def log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log-odds of probabilities, finite ones."""
    inside = np.clip(p, SURE, 1 - SURE)
    odds: NDArray[np.float64] = np.log(inside) - np.log1p(-inside)
    return odds


def vote_odds(verdicts: Verdicts) -> NDArray[np.float64]:
    """The log-odds of the share of the votes that every verdict has, each side a vote richer [Q]."""
    return log_odds((verdicts.votes + 1) / (verdicts.cast + 2))


def verdict_was_read(verdicts: Verdicts, asked: Pool) -> Bools:
    """Of which verdicts the verifier was asked to read something [Q]."""
    if asked.asked is None:
        return np.ones(asked.n_questions, bool)
    mine = asked.asked & (asked.answer == asked.spread(verdicts.code)) & asked.readable
    return np.bincount(asked.spread(np.arange(asked.n_questions))[mine], minlength=asked.n_questions) > 0


@dataclass(frozen=True)
class Asking:
    """The numbers that `expected` goes by, learned by replaying it on the calibration questions."""

    level: float
    by_share: float
    between: float
    within: float
    sharpness: float  # log-odds per unit of an answer's total
    margin: float  # an answer is asked about while it may be this many log-odds short of the lead; 0: never
    read_intercept: float  # of the log-odds of the confidence in a verdict of which something was read,
    read_slope: float  # which some scores give otherwise than all,
    unread_intercept: float  # and of that in one of which nothing was,
    unread_slope: float  # by the log-odds of its share of the votes
    price: float  # of one score, in accuracy
    gain: float  # expected accuracy with all scores, less that with none
    loss: float  # expected accuracy lost against all scores
    scored: float  # share of the responses that are read
    rule: str = LEARNED  # the rule to ask by where nobody names one; a plan says so only for another one

    @property
    def filling(self) -> Filling:
        """How a score that was not asked is filled in."""
        return Filling(self.level, self.by_share, self.between, self.within)

    def recalibrated(self, verdicts: Verdicts, asked: Pool, confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """The confidence in verdicts with some scores only [Q]; that of no answer stays 0."""
        read = verdict_was_read(verdicts, asked)
        odds = np.where(
            read,
            self.read_intercept + self.read_slope * log_odds(confidence),
            self.unread_intercept + self.unread_slope * vote_odds(verdicts),
        )
        return np.where(verdicts.code >= 0, expit(odds), 0.0)

    def explain(self) -> str:
        """Say in a sentence what is asked, and what that is worth."""
        gain = f"{100 * self.gain:.1f} points"
        price = f" at a price of {100 * self.price:g} points per score" if self.price else ""
        if not self.margin:
            return (
                f"Nothing is to be gained: on questions held out of the fit all scores together bring {gain} of "
                f"accuracy{price}, so the verifier is not asked."
            )
        return (
            f"About {self.scored:.0%} of the responses are read; that loses {100 * self.loss:.1f} of the {gain} of "
            f"accuracy that all scores bring{',' if price else ''}{price}."
        )

    def plain(self) -> dict[str, Any]:
        """As a plan writes it."""
        numbers = asdict(self)
        rule = numbers.pop("rule")
        return numbers if rule == LEARNED else numbers | {"rule": rule}

    @classmethod
    def from_plain(cls, stored: Mapping[str, Any]) -> Asking:
        """Read what a plan keeps, and refuse what is damaged."""
        wanted = [field.name for field in fields(cls) if field.name != "rule"]
        numbers = {name: value for name, value in stored.items() if name != "rule"}
        rule = stored.get("rule", LEARNED)
        known = rule in (LEARNED, PROVEN) and sorted(numbers) == sorted(wanted)
        if not known or not all(type(value) in (int, float) for value in numbers.values()):
            raise PlanError("what it learned about asking is damaged: fit it again with --frugal expected")
        found = cls(**{name: float(value) for name, value in numbers.items()}, rule=rule)
        variances = (found.between, found.within)
        positive = min(found.sharpness, found.margin, found.price, found.scored) >= 0
        near = all(abs(float(value)) <= FAR for value in numbers.values())
        if not positive or min(variances) < LEAST or not near:
            raise PlanError("what it learned about asking is damaged: fit it again with --frugal expected")
        return found


def filled(pool: P, asking: Asking | None) -> P:
    """Return a pool with a score for every response, those that were not asked filled in as a plan has learned to."""
    return (asking.filling if asking else Filling()).apply(pool)
