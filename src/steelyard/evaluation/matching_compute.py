"""Compute to match: the share of the samples with which a method reaches what a baseline needs all N for.

The method's accuracy curve is followed in n until it first reaches the baseline's accuracy at N; between two measured
sizes it is taken to be straight in log2 n, as accuracy curves nearly are. Measure it at `fine_sizes`: every n
up to 16 and eight an octave beyond, steps of at most 9 %, so that what the straight line leaves out is far smaller than
the interval. Measuring every n would cost a fit and a column of weights for each and move the result
by less than a sample.

The interval is a bootstrap over test questions, both curves on the same draws. A draw in which the method
never gets there counts as infinitely many samples: an interval may be open above, and "never" is a result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.evaluation.accuracy import LEVEL, bootstrapped
from steelyard.evaluation.accuracy_curves import Curves
from steelyard.foundation.errors import SettingError

CLOSE = 1e-12  # accuracies that differ by rounding alone are equal
Interval = tuple[float | None, float | None, float | None, float]  # samples, low, high (None: never), reached


@dataclass(frozen=True)
class ComputeToMatch:
    """How few samples are enough (None: never). `reached` is the share of bootstraps in which N or fewer are.

    >>> found = ComputeToMatch("logit", "vanilla", 64, 0.5, 16.0, 8.0, 32.0, reached=1.0, questions=100, pairs=1)
    >>> print(found)
    logit reaches vanilla's 50.0 % at n = 64 with 25.0 % of the samples (95% interval 12.5 % to 50.0 %)
    """

    method: str
    baseline: str
    n: int  # the baseline's samples, the full N
    target: float  # the baseline's accuracy with them
    samples: float | None
    low: float | None
    high: float | None
    reached: float
    questions: int
    pairs: int

    @property
    def fraction(self) -> float | None:
        """The share of the samples, the paper's 21.3 %."""
        return _share(self.samples, self.n)

    @property
    def fraction_low(self) -> float | None:
        return _share(self.low, self.n)

    @property
    def fraction_high(self) -> float | None:
        return _share(self.high, self.n)

    def break_even(self, calibration_samples: int) -> float | None:
        """The queries after which the samples saved have paid for the calibration set; None is never."""
        return break_even(calibration_samples, self.samples, self.n)

    def __str__(self) -> str:
        def percent(share: float | None) -> str:
            return "never" if share is None else f"{100 * share:.1f} %"

        goal = f"{self.baseline}'s {100 * self.target:.1f} % at n = {self.n}"
        interval = f"({LEVEL:.0%} interval {percent(self.fraction_low)} to {percent(self.fraction_high)})"
        if self.fraction is None:
            return f"{self.method} never reaches {goal} {interval}"
        return f"{self.method} reaches {goal} with {percent(self.fraction)} of the samples {interval}"


def compute_to_match(
    curves: Curves | Sequence[Curves], method: str = "logit", baseline: str = "vanilla", *, seed: int = 0
) -> ComputeToMatch:
    """Find the samples with which `method` matches `baseline` at full N; of several pairs, on their mean curves.

    Pairs measured on the same questions share their bootstrap draws, others are drawn independently.

    >>> import steelyard as sy
    >>> cal, test = sy.read_labelled(sy.simulate(200, 8)).split(0.5, seed=0)
    >>> found = sy.evaluation.curves(["vanilla", "logit"], cal, test, n=[1, 2, 4, 8], resamples=5)
    >>> matched = compute_to_match(found)
    >>> matched.method, matched.baseline, matched.n
    ('logit', 'vanilla', 8)
    """
    pairs = [curves] if isinstance(curves, Curves) else list(curves)
    if not pairs:
        raise SettingError("there are no curves to compare: measure some with curves(...)")
    sizes = pairs[0].sizes
    for pair in pairs:
        if pair.sizes != sizes:
            raise SettingError(
                f"the curves to average are measured at different n, {_few(sizes)} and {_few(pair.sizes)}: "
                "measure all pairs at the same n"
            )
    values = [np.column_stack((pair.of(method), pair.of(baseline)[:, -1])) for pair in pairs]
    mean = np.mean([value.mean(axis=0) for value in values], axis=0)
    seeds = _seeds([np.asarray(pair.questions) for pair in pairs], seed)
    draws = np.mean([bootstrapped(value, seed=s) for value, s in zip(values, seeds, strict=True)], axis=0)
    point = first_reached(np.array(sizes), mean[None, :-1], mean[-1:])[0]
    many = first_reached(np.array(sizes), draws[:, :-1], draws[:, -1])
    count = sum({s: len(value) for s, value in zip(seeds, values, strict=True)}.values())
    reached = samples_interval(float(point), many)
    return ComputeToMatch(method, baseline, sizes[-1], float(mean[-1]), *reached, questions=count, pairs=len(pairs))


def first_reached(
    sizes: NDArray[np.int64] | NDArray[np.float64], accuracy: NDArray[np.float64], target: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the n at which each curve [B, S] first reaches its target [B], straight in log2 n; inf is never.

    A size that was not measured (NaN) has not reached anything.

    >>> first_reached(np.array([1, 4, 16]), np.array([[0.2, 0.4, 0.6], [0.2, 0.3, 0.4]]), np.array([0.5, 0.5]))
    array([ 8., inf])
    """
    there = accuracy >= target[:, None] - CLOSE
    first = there.argmax(axis=1)
    row = np.arange(len(accuracy))
    before = np.maximum(first - 1, 0)
    left, correct = accuracy[row, before], accuracy[row, first]
    rise = np.where(correct > left, correct - left, np.inf)  # the first size, or after one that was not measured
    part = np.where(np.isfinite(rise), (target - left) / rise, 1.0).clip(0, 1)
    log = np.log2(sizes)
    n = np.exp2(log[before] + part * (log[first] - log[before]))
    return np.where(there.any(axis=1), np.where(part < 1, n, sizes[first]), np.inf)


def samples_interval(point: float, draws: NDArray[np.float64]) -> Interval:
    """Return an estimate with its interval over bootstrap draws, and the share of them that is finite; inf is None."""
    many, tail = np.sort(draws), (1 - LEVEL) / 2
    ends = many[math.floor(tail * (len(many) - 1))], many[math.ceil((1 - tail) * (len(many) - 1))]
    samples, low, high = (float(value) if math.isfinite(value) else None for value in (point, *ends))
    return samples, low, high, float(np.isfinite(many).mean())


def break_even(calibration_samples: int, samples: float | None, n: int) -> float | None:
    """Return calibration samples / samples saved per query: how many queries pay for the calibration set.

    The paper's case: 100 questions of N samples each, 21.3 % of N needed afterwards.

    >>> round(break_even(100 * 256, 0.213 * 256, 256))
    127
    """
    return None if samples is None or samples >= n else calibration_samples / (n - samples)


def fine_sizes(n: int) -> list[int]:
    """Return every size up to 16, eight an octave beyond, and n.

    >>> fine_sizes(32)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 21, 23, 25, 27, 29, 32]
    """
    octaves = 16 * 2 ** (np.arange(8 * n.bit_length()) / 8)
    beyond = np.rint(octaves[octaves < n]).astype(int).tolist()
    return sorted({*range(1, min(n, 16) + 1), *(size for size in beyond if size < n), n})


def _seeds(questions: list[NDArray[np.generic]], seed: int) -> list[int]:
    """Give each set of questions its own seed, equal sets the same."""
    seeds: list[int] = []
    for i, ids in enumerate(questions):
        same = (seeds[j] for j in range(i) if np.array_equal(ids, questions[j]))
        seeds.append(next(same, seed + len(set(seeds))))
    return seeds


def _share(samples: float | None, n: int) -> float | None:
    return None if samples is None else samples / n


def _few(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes[:4])) + (f" .. {sizes[-1]}" if len(sizes) > 4 else "")
