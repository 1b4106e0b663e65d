"""The stopping rule for a budget, or for a loss: chosen on calibration questions.

For a budget, each kind of rule offers the threshold, cap and minimum with the best accuracy within the mean samples
allowed and, of those within noise of it, the one that spends most. For a loss, it offers those with the fewest samples
among all that lose no more against full N, with 1.645 standard errors to spare (95 %, one-sided).

Stopping early is chosen for a budget only where it beats the same number of samples for every question by more than a
standard error and a fifth of a point; for a loss only where it takes fewer samples than any fixed number that holds it,
and is not behind a fixed number as small as its own. Else the choice is `fixed`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.arrays import Ints
from steelyard.errors import SettingError
from steelyard.evaluation.paths import Paths
from steelyard.stopping import rule_class, rule_names
from steelyard.stopping._base import Rule

LEAST = (1, 2, 3, 4)
CLOSE = 1e-9
SPARE = 1.645  # standard errors
NOISE = 0.5  # standard errors
WORTH = 0.002  # of accuracy: less is not worth a moving part


class Paired(NamedTuple):
    """A mean difference over questions and its standard error."""

    mean: float
    se: float

    @classmethod
    def of(cls, difference: NDArray[np.floating[Any]]) -> Paired:
        """Average one difference a question [Q]."""
        spread = difference.std(ddof=1) if len(difference) > 1 else 0.0
        return cls(float(difference.mean()), float(spread / np.sqrt(len(difference))))


@dataclass(frozen=True)
class Tried:
    """One rule on the calibration questions."""

    rule: Rule
    samples: float  # mean
    right: NDArray[np.float32]  # [Q]
    loss: float  # against full N, with standard errors to spare


@dataclass(frozen=True)
class Choice:
    """What to do, and the best of each kind of rule on the calibration questions."""

    rule: Rule
    offers: dict[str, Rule]  # by kind
    gains: dict[str, Paired]  # by kind: against fixed at the same mean samples

    @property
    def pays(self) -> bool:
        """Whether stopping early is worth it."""
        return self.rule.name() != "fixed"


def choose(found: Paths, *, samples: float | None = None, loss: float | None = None) -> Choice:
    """Choose a rule for at most so many mean samples, or for at most so much less accuracy than full N, or both."""
    return Shelf(found).choose(samples=samples, loss=loss)


class Shelf:
    """All rules worth trying, measured once."""

    def __init__(self, found: Paths) -> None:
        self.paths = found
        full = found.fixed(float(found.walk.sizes.mean()))
        kinds = [kind for kind in rule_names() if kind != "confidence" or found.walk.learned]
        self.tried = {kind: [_measured(found, rule, at, full) for rule, at in _rules(found, kind)] for kind in kinds}

    def choose(self, *, samples: float | None = None, loss: float | None = None) -> Choice:
        """Choose among them."""
        check_aim(samples, loss, int(self.paths.walk.k[-1]))
        best: dict[str, Tried] = {}
        for kind, tried in self.tried.items():
            held = [t for t in tried if loss is None or t.loss <= loss + CLOSE]
            within = [t for t in held if samples is None or t.samples <= samples + CLOSE]
            if within:
                best[kind] = _fewest(within) if loss is not None else _best(within)
        if not best:
            need = min(t.samples for tried in self.tried.values() for t in tried if t.loss <= (loss or 0) + CLOSE)
            raise SettingError(
                f"to lose at most {loss:g} takes {need:.1f} samples a question on the calibration questions: "
                f"allow {np.ceil(need):.0f} samples, or a larger loss"
            )
        gains = {kind: self._gain(t) for kind, t in best.items()}
        paying = [
            t
            for kind, t in best.items()
            if kind == "fixed" or gains[kind].mean > (max(gains[kind].se, WORTH) if loss is None else 0.0)
        ]
        listed = paying or list(best.values())
        top = _fewest(listed) if loss is not None else max(listed, key=lambda t: float(t.right.mean()))
        return Choice(top.rule, {kind: t.rule for kind, t in best.items()}, gains)

    def _gain(self, tried: Tried) -> Paired:
        return Paired.of(tried.right - self.paths.fixed(tried.samples))


def _fewest(tried: list[Tried]) -> Tried:
    return min(tried, key=lambda t: (t.samples, t.rule.name() != "fixed"))


def _best(tried: list[Tried]) -> Tried:
    """The rule that spends most among those half a standard error or less behind the most accurate.

    Accuracy rises with samples and is measured with noise; what is left of the budget is not saved, it is lost.
    """
    if tried[0].rule.name() == "fixed":
        return max(tried, key=lambda t: t.samples)
    top = max(tried, key=lambda t: (t.right.mean(), -t.samples))
    behind = ((t, Paired.of(top.right - t.right)) for t in tried if t.samples >= top.samples)
    return max((t for t, gap in behind if gap.mean <= NOISE * gap.se), key=lambda t: (t.samples, t.right.mean()))


def _rules(found: Paths, kind: str) -> Iterator[tuple[Rule, Ints]]:
    """Every rule of a kind that is worth trying, and where it stops each walk [W]."""
    walk, most = found.walk, int(found.walk.k[-1])
    base = rule_class(kind)(most).learned_from(walk)
    if not base.thresholds:
        yield from ((replace(base, cap=cap), np.full(len(walk.sizes), cap)) for cap in range(1, most + 1))
        return
    signal = base.signal(walk)
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


def _measured(found: Paths, rule: Rule, samples: Ints, full: NDArray[np.float64]) -> Tried:
    used, right = found.stopped(samples)
    lost = Paired.of(full - right)
    return Tried(rule, float(used.mean()), right.astype(np.float32), lost.mean + SPARE * lost.se)


def check_aim(samples: float | None, loss: float | None, most: int) -> None:
    """Refuse a budget or a loss that cannot be."""
    if samples is None and loss is None:
        raise SettingError("say what to aim for: samples=8 (mean samples a question) or loss=0.01 (one point)")
    if samples is not None and not 1 <= samples <= most:
        raise SettingError(f"samples must lie between 1 and {most}, the samples of these questions, not {samples:g}")
    if loss is not None and not 0 <= loss < 1:
        raise SettingError(f"loss must lie between 0 and 1, not {loss:g}: 0.01 is one point of accuracy")
