"""Every stopping rule worth trying, and how it does on labelled trajectories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.trajectories import Trajectories
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.stopping import rule_class
from steelyard.voting.stopping.stopping_rule import Rule

LEAST = (1, 2, 3, 4)


class Paired(NamedTuple):
    """A mean difference over questions and its standard error."""

    mean: float
    se: float

    @classmethod
    def of(cls, difference: NDArray[np.floating[Any]]) -> Paired:
        """Average one difference per question [Q]."""
        spread = difference.std(ddof=1) if len(difference) > 1 else 0.0
        return cls(float(difference.mean()), float(spread / np.sqrt(len(difference))))


@dataclass(frozen=True)
class RuleResult:
    """One rule on the calibration questions."""

    rule: Rule
    samples: float  # mean
    correct: NDArray[np.float32]  # [Q]
    loss: Paired  # against full N


def rule_results(found: Trajectories, kind: str) -> list[RuleResult]:
    """Measure every rule of a kind that is worth trying."""
    full = found.fixed(float(found.prefix_votes.sizes.mean()))
    return [_measured(found, rule, at, full) for rule, at in _rules(found, kind)]


def families(rule_results: list[RuleResult]) -> list[list[RuleResult]]:
    """Rules that differ in their threshold alone (without one: in their cap), from careful to bold."""
    found: dict[tuple[int, ...], list[RuleResult]] = {}
    for t in rule_results:
        found.setdefault((t.rule.cap, t.rule.least) if t.rule.thresholds else (), []).append(t)
    return [sorted(family, key=lambda t: (-t.rule.threshold, -t.rule.cap)) for family in found.values()]


def _rules(found: Trajectories, kind: str) -> Iterator[tuple[Rule, Ints]]:
    """Every rule of a kind that is worth trying, and where it stops each trajectory [T]."""
    prefix_votes, most = found.prefix_votes, int(found.prefix_votes.k[-1])
    base = rule_class(kind)(most)
    if not base.thresholds:
        yield from ((replace(base, cap=cap), np.full(len(prefix_votes.sizes), cap)) for cap in range(1, most + 1))
        return
    signal = base.signal(prefix_votes)
    for threshold in base.thresholds:
        sure = signal >= threshold
        for least in (least for least in LEAST if least < most):
            ready = sure[:, least - 1 :]
            first = np.where(ready.any(axis=1), ready.argmax(axis=1) + least, most)
            for cap in (cap for cap in caps(most) if cap > least):
                yield replace(base, cap=cap, least=least, threshold=threshold), np.minimum(first, cap)


def caps(n: int) -> list[int]:
    """Return the caps worth trying: 2, 3, 4, 6, 8, 12, .. and n.

    >>> caps(20)
    [2, 3, 4, 6, 8, 12, 16, 20]
    """
    steps = sorted(part * 2**k for k in range(1, n.bit_length() + 1) for part in (1, 1.5))
    return [int(cap) for cap in steps if cap < n] + [n]


def _measured(found: Trajectories, rule: Rule, samples: Ints, full: NDArray[np.float64]) -> RuleResult:
    used, correct = found.stopped(samples)
    return RuleResult(rule, float(used.mean()), correct.astype(np.float32), Paired.of(full - correct))
