"""What a score is worth: the linear, logit and density weights of the paper. Nothing here is fitted to labels.

Linear    w(p) = p - b                      the score itself, moved so that b is worth nothing
Logit     w(p) = logit(p) - logit(b)        logit(p) = log(p / (1 - p)). Real scores are saturated and rounded; exact 0
                                            and 1 would weigh infinitely much: they are clipped to [clip, 1 - clip].
Density   w(p) = log f1(p) - log f0(p)      the PRM term of the paper's theorem

f1 and f0 are Gaussian kernel density estimates of the correct and the incorrect scores in logit
space,  f(z) = 1/(n h) sum_i K((z - z_i) / h),  with Silverman's bandwidth. The n points are dealt
linearly onto a grid, smoothed there once, and read back by interpolating log f: a few
nanoseconds per score where the direct sum costs n exponentials.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.foundation.errors import SettingError
from steelyard.voting.pools.arrays import Floats
from steelyard.voting.pools.scores import CLIP

FLOOR = 1e-6  # added to every density, so that no single response decides a vote
POINTS = 2048  # the least number of grid points
PER_BANDWIDTH = 48  # grid steps per bandwidth, at least
REACH = 8.0  # bandwidths to either side of a point that its kernel covers


def clipped_logit(p: Floats, clip: float = CLIP) -> NDArray[np.float64]:
    """Return logit(p) of the clipped score; the weight is clipped_logit - logit(b).

    >>> clipped_logit(np.array([0.0, 0.5, 1.0])).round(3)
    array([-6.236,  0.   ,  6.236])
    """
    from steelyard.voting import kernels

    scores = np.ascontiguousarray(p, np.float64)
    odds = np.empty(scores.shape)
    kernels.clipped_odds(scores.ravel(), clip, 1 - clip, odds.ravel())
    return np.log(odds, out=odds)


def check_clip(clip: float) -> None:
    """Refuse a clip that leaves nothing between its ends."""
    if not 1e-15 <= clip < 0.5:
        raise SettingError(f"clip must lie between 1e-15 and 0.5, not {clip}")


def logit(b: float) -> float:
    """Return log(b / (1 - b)), with the limits at 0 and 1.

    >>> logit(0.5), logit(0.0)
    (0.0, -inf)
    """
    with np.errstate(divide="ignore"):
        return float(np.log(b) - np.log1p(-b))


def shifted(evidence: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    """Return the weights evidence - beta; an infinite beta is its limit, one vote per response.

    As beta goes to minus infinity every response is worth the same and the vote becomes the
    majority vote; towards plus infinity each counts against its answer equally.

    >>> shifted(np.array([0.2, 0.9]), 0.5)
    array([-0.3,  0.4])
    >>> shifted(np.array([0.2, 0.9]), -np.inf)
    array([1., 1.])
    """
    if np.isinf(beta):
        return np.full_like(evidence, -np.sign(beta))
    return evidence - beta


def silverman(z: NDArray[np.float64], narrowest: float = 0.01) -> float:
    """Return Silverman's bandwidth sd * (3n/4)^(-1/5), at least `narrowest` for constant scores."""
    spread = float(np.std(z, ddof=1)) if len(z) > 1 else 0.0
    return max(spread * float((0.75 * len(z)) ** -0.2), narrowest)


@dataclass(frozen=True)
class Density:
    """A density on an even grid: log f at low, low + step, .."""

    low: float
    step: float
    log_f: NDArray[np.float64]

    def log(self, z: ArrayLike) -> NDArray[np.float64]:
        """Interpolate log f; flat outside the grid."""
        return interpolate(np.asarray(z, np.float64), self.low, self.step, self.log_f)


def density(z: NDArray[np.float64], low: float, high: float, bandwidth: float | None = None) -> Density:
    """Estimate the density of the points z, to be read between low and high.

    >>> f = density(np.array([-1.0, 0.0, 1.0]), -3.0, 3.0, bandwidth=0.5)
    >>> round(float(np.exp(f.log(0.0))), 3)  # (1 + 2 exp(-2)) / (3 * 0.5 * sqrt(2 pi))
    0.338
    """
    h = silverman(z) if bandwidth is None else bandwidth
    low, high = min(low, float(z.min())), max(high, float(z.max()))
    points = max(POINTS, int((high - low) / h * PER_BANDWIDTH) + 2)
    step = (high - low) / (points - 1) or 1.0
    position = (z - low) / step
    left = np.minimum(position.astype(np.int64), points - 2)
    part = position - left
    mass = np.bincount(left, 1 - part, points) + np.bincount(left + 1, part, points)
    reach = min(int(REACH * h / step) + 1, points - 1)
    u = np.arange(-reach, reach + 1) * (step / h)
    kernel = np.exp(-0.5 * u * u) / (len(z) * h * np.sqrt(2 * np.pi))
    f = np.convolve(mass, kernel)[reach : reach + points]
    return Density(low, step, np.log(np.maximum(f, np.finfo(float).tiny)))


def log_ratio(f1: Density, f0: Density) -> Density:
    """Return log (f1 + FLOOR) - log (f0 + FLOOR) on the finer of the two grids."""
    fine = f1 if f1.step < f0.step else f0
    z = fine.low + fine.step * np.arange(len(fine.log_f))
    ratio = np.log(np.exp(f1.log(z)) + FLOOR) - np.log(np.exp(f0.log(z)) + FLOOR)
    return Density(fine.low, fine.step, ratio)


def interpolate(z: NDArray[np.float64], low: float, step: float, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Read a function off its even grid, linearly; flat outside it."""
    position = np.clip((z - low) / step, 0, len(values) - 1)
    left = np.minimum(position.astype(np.int64), len(values) - 2)
    part = position - left
    read: NDArray[np.float64] = values[left] * (1 - part) + values[left + 1] * part
    return read
