"""Estimates of what a command will spend: requests, tokens and cost, each with its range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist, fmean, stdev
from typing import Any

from steelyard.sampling.llm.prices import MILLION, Price

COVERAGE = 0.95  # of a range that is learned from earlier requests
FEW_DEGREES = (12.706, 4.303, 3.182, 2.776, 2.571)  # Student's quantiles at (1 + COVERAGE) / 2
MARGIN = 0.2  # at least, either way: new texts may differ from earlier ones
TOKENS_PER_BYTE = 1 / 6, 1 / 4, 1.0  # of text that no server has counted: lowest, expected, highest
CHAT_TEMPLATE = 100  # tokens that a server may add to each request, at most: roles, a default system prompt


@dataclass(frozen=True)
class Range:
    """A number that is unlikely to be outside two bounds; `expected` is None if there is no basis for a best guess."""

    low: float
    high: float
    expected: float | None = None

    def __add__(self, other: Range) -> Range:
        expected = None if self.expected is None or other.expected is None else self.expected + other.expected
        return Range(self.low + other.low, self.high + other.high, expected)

    def __mul__(self, factor: float) -> Range:
        expected = None if self.expected is None else self.expected * factor
        return Range(self.low * factor, self.high * factor, expected)

    def within(self, low: float, high: float) -> Range:
        """The same range, clipped to two bounds."""
        expected = None if self.expected is None else min(max(self.expected, low), high)
        return Range(min(max(self.low, low), high), min(max(self.high, low), high), expected)


@dataclass(frozen=True)
class Estimate:
    """Requests and tokens still to be spent on `samples` samples (or scores), not counting retries."""

    samples: int
    requests: Range
    input_tokens: Range
    output_tokens: Range

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(
            self.samples + other.samples,
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    def cost(self, price: Price) -> Range:
        return self.input_tokens * (price.prompt / MILLION) + self.output_tokens * (price.completion / MILLION)

    def plain(self) -> dict[str, Any]:
        """The estimate as a JSON object."""
        return asdict(self)


def exactly(number: float) -> Range:
    """The range of a known number."""
    return Range(number, number, number)


def no_requests(samples: int = 0) -> Estimate:
    """The estimate of a command that sends nothing."""
    return Estimate(samples, exactly(0), exactly(0), exactly(0))


def student_quantile(degrees: int) -> float:
    """Half the width of Student's interval with COVERAGE: known values for few degrees of freedom, then an expansion.

    The expansion in 1 / degrees is Fisher's; within 0.2 % of the exact quantile from six degrees on.

    >>> student_quantile(1), round(student_quantile(10), 2), round(student_quantile(1000), 2)
    (12.706, 2.23, 1.96)
    """
    if degrees <= len(FEW_DEGREES):
        return FEW_DEGREES[degrees - 1]
    z = NormalDist().inv_cdf((1 + COVERAGE) / 2)
    second, third = 5 * z**5 + 16 * z**3 + 3 * z, 3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z
    return z + (z**3 + z) / (4 * degrees) + second / (96 * degrees**2) + third / (384 * degrees**3)


def predicted(values: Sequence[float], weights: Sequence[float]) -> Range:
    """The sum of weight * value over new items, predicted from earlier values: Student's prediction interval.

    With mean m and deviation s of K values, and W the sum of the weights w: m W, plus or minus
    t s sqrt(sum w^2 + W^2 / K), and at least 20 % either way. A single value gives no bounds.

    >>> predicted([10.0, 20.0, 30.0], [1.0, 1.0]).expected, predicted([5.0, 5.0], [2.0])
    (40.0, Range(low=8.0, high=12.0, expected=10.0))
    """
    total, mean = math.fsum(weights), fmean(values)
    if len(values) == 1:
        return Range(0.0, math.inf, mean * total)
    half = (
        student_quantile(len(values) - 1)
        * stdev(values)
        * math.sqrt(math.fsum(w * w for w in weights) + total**2 / len(values))
    )
    half = max(half, MARGIN * mean * total)
    return Range(mean * total - half, mean * total + half, mean * total)


def tokens_of_text(size: float, requests: int, values: Sequence[float] = (), weights: Sequence[float] = ()) -> Range:
    """The input tokens of `size` bytes of text: by length, or as `predicted` if several earlier texts were counted."""
    if len(values) < 2:
        low, expected, high = TOKENS_PER_BYTE
        return Range(size * low, size * high + requests * CHAT_TEMPLATE, size * expected)
    return predicted(values, weights).within(0.0, math.inf)
