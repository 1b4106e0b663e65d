"""A cascade: whom to ask first, whom next, and when to stop, by how likely the leading answer is correct so far.

    for every step in turn:  ask its sources  where  low <= confidence < high

The confidence is that of the sources asked so far (fitting/answer_odds.py), fitted for each set of them that may come
about; before anyone is asked it is 0. A step with low 0 and high 1 asks always. The answers are looked at in the order
of the steps, never in that of their arrival. Nobody is asked twice, also where two steps name the same source. A source
that gives no answer was asked all the same: the next step decides without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import PlanError
from steelyard.voting.fitting.answer_odds import LARGEST, Leading, Panel, leading
from steelyard.voting.pools.arrays import Bools, Ints

MOST_STEPS = 6  # each doubles the sets of sources that may come about
DAMAGED = "its cascade is damaged"
MILLION = 1e6
DIGITS = 8  # of the digest of a question


@dataclass(frozen=True)
class Step:
    """Sources to ask together, and where to."""

    sources: tuple[str, ...]
    low: float = 0.0
    high: float = 1.0

    def asks(self, confidence: NDArray[np.float64]) -> Bools:
        """Where the sources are asked [Q]."""
        return (confidence >= self.low) & (confidence < self.high)

    def where(self) -> str:
        """Between which confidences, in words; empty where it always asks."""
        if self.low <= 0:
            return f"below {self.high:g}" if self.high < 1 else ""
        return f"from {self.low:g}{f' to {self.high:g}' if self.high < 1 else ' up'}"


class Replayed(NamedTuple):
    """What a cascade does with questions whose answers are all known."""

    row: Ints  # [Q] of the panel: the verdict, -1 for none
    confidence: NDArray[np.float64]  # [Q]
    sampled: Bools  # [Q, S]


@dataclass(frozen=True)
class CascadeOrigin:
    """The prices per million tokens, or per response where nothing counted tokens, and digests of the questions.

    >>> CascadeOrigin({"gpt": 10.0}).cost("gpt", tokens=500, samples=1)
    0.005
    """

    prices: Mapping[str, float] = field(default_factory=dict)  # by source; empty: a column of costs was read
    per_response: bool = False
    questions: tuple[str, ...] = ()  # empty: the plan does not say

    def __post_init__(self) -> None:
        sound = all(isinstance(name, str) and _number(p) and p >= 0 for name, p in self.prices.items())
        if not isinstance(self.per_response, bool) or not sound:
            raise ValueError("impossible prices")
        if not all(isinstance(question, str) for question in self.questions):
            raise ValueError("questions that cannot be")

    def cost(self, source: str, *, tokens: float, samples: int) -> float | None:
        """What some samples of a source cost; None where the plan has no price for it."""
        if source not in self.prices:
            return None
        return self.prices[source] * (samples if self.per_response else tokens / MILLION)

    def learned_on(self, names: Iterable[object]) -> list[bool]:
        """Which of these questions it was learned on."""
        learned = set(self.questions)
        return [digest in learned for digest in digests(names)]

    def plain(self) -> dict[str, Any]:
        """As a plan writes it; what is not known is left out."""
        plain = {"prices": dict(self.prices), "per_response": self.per_response, "learned_on": list(self.questions)}
        return {name: value for name, value in plain.items() if value}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> CascadeOrigin:
        """Read it from a plan; older plans have none of this."""
        prices, questions = plain.get("prices", {}), plain.get("learned_on", [])
        if not isinstance(questions, list):
            raise TypeError("questions")
        return cls(dict(prices), plain.get("per_response", False), tuple(questions))


@dataclass(frozen=True)
class Cascade:
    """Steps, what the answers are worth after them, and how many samples each source is asked for.

    >>> cascade = Cascade((Step(("phi",)), Step(("gpt",), high=0.8)), {("phi",): (2.0, 1.0), ("gpt", "phi"): (1, 3, 1)})
    >>> cascade.described()
    'ask phi; below 0.8 ask gpt'
    """

    steps: tuple[Step, ...]
    odds: Mapping[tuple[str, ...], tuple[float, ...]]  # by the sources asked, sorted: their weights, and that of none
    samples: Mapping[str, int] | None = None  # by source; None: one of each
    origin: CascadeOrigin = field(default_factory=CascadeOrigin)

    def __post_init__(self) -> None:
        if not 1 <= len(self.steps) <= MOST_STEPS or not all(map(_sound, self.steps)):
            raise PlanError(f"{DAMAGED}: it has steps that cannot be")
        if self.steps[0].low > 0:
            raise PlanError(f"{DAMAGED}: its first step has to ask from confidence 0")
        for sampled in reachable(self.steps):
            weights = self.odds.get(sampled, ())
            if len(weights) != len(sampled) + 1 or not all(_number(w) and abs(w) <= LARGEST for w in weights):
                raise PlanError(f"{DAMAGED}: it has no weights for {', '.join(sampled)}")
        if any(type(count) is not int or not 1 <= count <= 1_000_000 for count in (self.samples or {}).values()):
            raise PlanError(f"{DAMAGED}: an impossible number of samples")

    @property
    def sources(self) -> tuple[str, ...]:
        """Everyone it may ask, in their order."""
        return tuple(dict.fromkeys(name for step in self.steps for name in step.sources))

    def samples_of(self, source: str) -> int:
        """How many samples a source is asked for."""
        return (self.samples or {}).get(source, 1)

    def leading(self, panel: Panel, sampled: tuple[str, ...]) -> Leading:
        """The most likely answers of a panel when these sources, in the order of the steps, were asked."""
        among = tuple(sorted(sampled))
        weights = dict(zip(among, self.odds[among], strict=False))
        theta = np.array([*(weights[name] for name in sampled), self.odds[among][-1]])
        return leading(panel, [panel.names.index(name) for name in sampled], theta)

    def replay(self, panel: Panel) -> Replayed:
        """Ask the sources of a panel; one that the panel does not have is asked, and says nothing."""
        panel = _with_sources(panel, self.sources)
        n = panel.questions
        row, confidence = np.full(n, -1), np.zeros(n)
        sampled = np.zeros((n, len(panel.names)), bool)
        state: dict[tuple[str, ...], Bools] = {(): np.ones(n, bool)}
        for step in self.steps:
            asks, columns = step.asks(confidence), [panel.names.index(name) for name in step.sources]
            sampled[:, columns] |= asks[:, None]
            after: dict[tuple[str, ...], Bools] = {}
            for before, mask in state.items():
                for names, part in ((before, mask & ~asks), (joined(before, step), mask & asks)):
                    if part.any():
                        after[names] = after.get(names, False) | part
            state = after
            for names, part in state.items():
                if names and (part & asks).any():
                    leader = self.leading(panel, names)
                    row[part], confidence[part] = leader.row[part], leader.confidence[part]
        return Replayed(row, confidence, sampled)

    def described(self) -> str:
        """Whom it asks, in one line."""
        return "; ".join(f"{step.where()} ask {' and '.join(step.sources)}".strip() for step in self.steps)

    def plain(self) -> dict[str, Any]:
        """The cascade as a plan writes it."""
        steps = [{"ask": list(s.sources), "low": s.low, "high": s.high} for s in self.steps]
        odds = [{"sampled": list(sampled), "weights": list(weights)} for sampled, weights in self.odds.items()]
        return {"steps": steps, "odds": odds, "samples": dict(self.samples or {}), **self.origin.plain()}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Cascade:
        """Make the cascade that a plan describes."""
        try:
            steps = tuple(Step(_names(step["ask"]), step["low"], step["high"]) for step in plain["steps"])
            odds = {_names(state["sampled"]): tuple(state["weights"]) for state in plain["odds"]}
            return cls(steps, odds, dict(plain["samples"]), CascadeOrigin.from_plain(plain))
        except (KeyError, TypeError, AttributeError, ValueError):
            raise PlanError(f"{DAMAGED}: make it again with 'steelyard plan-budget'") from None


def joined(sampled: tuple[str, ...], step: Step) -> tuple[str, ...]:
    """Who was asked after a step, in the order in which they were."""
    return sampled + tuple(name for name in step.sources if name not in sampled)


def reachable(steps: tuple[Step, ...]) -> list[tuple[str, ...]]:
    """Every set of sources that may have been asked after a step, sorted."""
    states: set[tuple[str, ...]] = set()
    now: set[tuple[str, ...]] = {()}
    for step in steps:
        skipped = set() if step.low <= 0 and step.high >= 1 else now
        now = skipped | {tuple(sorted(joined(state, step))) for state in now}
        states |= now
    return sorted(states - {()})


def digests(names: Iterable[object]) -> tuple[str, ...]:
    """Digests that identify questions in a plan without showing their names.

    >>> digests(["q0"])
    ('341c0a3e',)
    """
    return tuple(sha256(str(name).encode("utf-8", "replace")).hexdigest()[:DIGITS] for name in names)


def _with_sources(panel: Panel, names: tuple[str, ...]) -> Panel:
    """The panel with an empty column for every source that it does not have."""
    new = tuple(name for name in names if name not in panel.names)
    if not new:
        return panel
    share = np.column_stack((panel.share, np.zeros((len(panel.share), len(new)))))
    return Panel(panel.names + new, panel.questions, panel.question, panel.code, share, panel.correct)


def _sound(step: Step) -> bool:
    distinct = bool(step.sources) and len(set(step.sources)) == len(step.sources)
    return distinct and _number(step.low) and _number(step.high) and 0 <= step.low < step.high <= 1


def _number(value: Any) -> bool:
    return type(value) in (int, float) and isfinite(value)


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError("names")
    return tuple(value)
