"""Choose a stopping rule for a budget or for a loss, on calibration questions.

For a budget, each kind of rule offers the threshold, cap and minimum with the best accuracy within the mean samples
allowed and, of those within noise of it, the one that spends most. For a loss, it offers those with the fewest samples
among all that lose no more against full N with a certainty of 95 %, for all rules that were tried together.

Stopping early is chosen for a budget only where it beats the same number of samples for every question by more than a
standard error and a fifth of a point; for a loss only where it takes fewer samples than any fixed number that holds it,
and is not behind a fixed number as small as its own. Else the choice is `fixed`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.accuracy import Paired
from steelyard.evaluation.trajectories import Trajectories
from steelyard.foundation.errors import CalibrationError, SettingError, need_numbers
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.stopping import rule_class, rule_names
from steelyard.voting.stopping.stopping_rule import Rule

CLOSE = 1e-9
SURE = 0.95  # that a loss is held
NOISE = 0.5  # standard errors
WORTH = 0.002  # of accuracy: less is not worth a moving part


@dataclass(frozen=True)
class Choice:
    """The chosen rule, and the best of each kind of rule on the calibration questions."""

    rule: Rule
    offers: dict[str, Rule]  # by kind


class RuleSearch:
    """All candidate rules, each measured once."""

    def __init__(self, votes: Trajectories) -> None:
        self.trajectories = votes
        kinds = [kind for kind in rule_names() if kind != "confidence" or votes.prefix_votes.learned]
        results = ((kind, rule_results(votes, kind)) for kind in kinds)
        self.rule_results = {kind: rules for kind, rules in results if rules}  # a window may need more samples

    def choose(self, *, samples: float | None = None, loss: float | None = None) -> Choice:
        """Choose a rule for at most this many mean samples, or for at most this loss against full N, or both."""
        check_aim(samples, loss, int(self.trajectories.prefix_votes.k[-1]))
        seen = 1 / self.trajectories.questions
        if loss is not None and loss < seen:
            raise CalibrationError(
                f"a loss of {loss:g} is too small for {self.trajectories.questions} calibration questions, where one "
                f"is {seen:.2g}: allow more, or label more questions"
            )
        best: dict[str, RuleResult] = {}
        for kind, rules in self.rule_results.items():
            held = rules if loss is None else self._held(rules, loss)
            within = [t for t in held if samples is None or t.samples <= samples + CLOSE]
            if within:
                best[kind] = _fewest(within) if loss is not None else _best(within)
        if not best:
            need = min(t.samples for rules in self.rule_results.values() for t in self._held(rules, loss or 0.0))
            raise SettingError(
                f"to lose at most {loss:g} takes {need:.1f} samples per question on the calibration questions: "
                f"allow {np.ceil(need):.0f} samples, or a larger loss"
            )
        gains = {kind: Paired.of(t.correct - self.trajectories.fixed(t.samples)) for kind, t in best.items()}
        paying = [
            t
            for kind, t in best.items()
            if kind == "fixed" or gains[kind].mean > (max(gains[kind].se, WORTH) if loss is None else 0.0)
        ]
        listed = paying or list(best.values())
        top = _fewest(listed) if loss is not None else max(listed, key=lambda t: float(t.correct.mean()))
        return Choice(top.rule, {kind: t.rule for kind, t in best.items()})

    def _held(self, rules: list[RuleResult], loss: float) -> list[RuleResult]:
        """The rules that hold a loss, each family tested from careful to bold and only up to the first that fails.

        Of a thousand rules some hold it by luck. In a fixed sequence luck has one chance per family, and Bonferroni's
        bound over all families leaves them 5 % together.
        """
        count = sum(len(families(results)) for results in self.rule_results.values())
        spare = NormalDist().inv_cdf(1 - (1 - SURE) / count)
        held: list[RuleResult] = []
        for family in families(rules):
            held += takewhile(lambda t: t.loss.mean + spare * t.loss.se <= loss + CLOSE, family)
        return held


def check_aim(samples: float | None, loss: float | None, n: int) -> None:
    """Refuse a missing or impossible budget or loss."""
    need_numbers(samples=samples, loss=loss)
    if samples is None and loss is None:
        raise SettingError("set a goal: samples=8 (mean samples per question) or loss=0.01 (one point)")
    if samples is not None and not 1 <= samples <= n:
        raise SettingError(f"samples must lie between 1 and {n}, the samples of these questions, not {samples:g}")
    if loss is not None and not 0 <= loss < 1:
        raise SettingError(f"loss must lie between 0 and 1, not {loss:g}: 0.01 is one point of accuracy")


def _fewest(rules: list[RuleResult]) -> RuleResult:
    return min(rules, key=lambda t: (t.samples, t.rule.name != "fixed"))


def _best(rules: list[RuleResult]) -> RuleResult:
    """The rule that spends most among those half a standard error or less behind the most accurate.

    Accuracy rises with samples and is measured with noise; what is left of the budget is not saved, it is lost.
    """
    if rules[0].rule.name == "fixed":
        return max(rules, key=lambda t: t.samples)
    top = max(rules, key=lambda t: (t.correct.mean(), -t.samples))
    behind = ((t, Paired.of(top.correct - t.correct)) for t in rules if t.samples >= top.samples)
    return max((t for t, gap in behind if gap.mean <= NOISE * gap.se), key=lambda t: (t.samples, t.correct.mean()))


@dataclass(frozen=True)
class RuleResult:
    """One rule on the calibration questions."""

    rule: Rule
    samples: float  # mean
    correct: NDArray[np.float32]  # [Q]
    loss: Paired  # against full N


def rule_results(votes: Trajectories, kind: str) -> list[RuleResult]:
    """Measure every candidate rule of a kind."""
    full = votes.fixed(float(votes.prefix_votes.sizes.mean()))
    results = []
    for rule, samples in _rules(votes, kind):
        used, correct = votes.stopped(samples)
        results.append(RuleResult(rule, float(used.mean()), correct.astype(np.float32), Paired.of(full - correct)))
    return results


def families(rule_results: list[RuleResult]) -> list[list[RuleResult]]:
    """Rules that differ in their threshold or window alone (without one: in their cap), from careful to bold."""
    by_family: dict[tuple[int, ...], list[RuleResult]] = {}
    for t in rule_results:
        family = (t.rule.cap,) if t.rule.windowed else (t.rule.cap, t.rule.least)
        by_family.setdefault(family if t.rule.thresholds else (), []).append(t)
    order = by_family.values()
    return [sorted(family, key=lambda t: (-t.rule.threshold, -t.rule.least, -t.rule.cap)) for family in order]


def _rules(votes: Trajectories, kind: str) -> Iterator[tuple[Rule, Ints]]:
    """Yield every candidate rule of a kind, and where it stops each trajectory [T]."""
    prefix_votes, n = votes.prefix_votes, int(votes.prefix_votes.k[-1])
    base = rule_class(kind)(n)
    if not base.thresholds:
        yield from ((replace(base, cap=cap), np.full(len(prefix_votes.sizes), cap)) for cap in range(1, n + 1))
        return
    minimums = [least for least in base.minimums if least < n]
    if base.windowed:
        signals = [replace(base, least=least).signal(prefix_votes) for least in minimums]
    else:
        signals = [base.signal(prefix_votes)] * len(minimums)
    for threshold in base.thresholds:
        for least, signal in zip(minimums, signals, strict=True):
            ready = signal[:, least - 1 :] >= threshold
            first = np.where(ready.any(axis=1), ready.argmax(axis=1) + least, n)
            for cap in (cap for cap in caps(n) if cap > least):
                yield replace(base, cap=cap, least=least, threshold=threshold), np.minimum(first, cap)


def caps(n: int) -> list[int]:
    """Return the caps worth trying: 2, 3, 4, 6, 8, 12, .. and n.

    >>> caps(20)
    [2, 3, 4, 6, 8, 12, 16, 20]
    """
    steps = sorted(part * 2**k for k in range(1, n.bit_length() + 1) for part in (1, 1.5))
    return [int(cap) for cap in steps if cap < n] + [n]
