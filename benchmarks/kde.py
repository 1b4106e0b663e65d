"""Kernel densities on a grid against the direct sum of scipy."""

from __future__ import annotations

import numpy as np
from scipy.stats import gaussian_kde

from benchmarks.measuring import Row, at_least, seconds
from steelyard.voting.score_weights import density

POINTS = 32_000


def rows() -> list[Row]:
    rng = np.random.default_rng(0)
    z = np.clip(np.concatenate((rng.normal(-1, 1.5, POINTS // 2), rng.normal(2, 1.2, POINTS // 2))), -6.236, 6.236)
    direct = gaussian_kde(z, "silverman")
    at = np.linspace(-6.2, 6.2, 2000)
    exact = direct(at)
    seen = exact > 1e-6
    error = float(np.abs(density(z, -6.24, 6.24).log(at)[seen] - np.log(exact[seen])).max())
    ours, theirs = seconds(lambda: density(z, -6.24, 6.24).log(z), lambda: gaussian_kde(z, "silverman")(z), repeats=2)
    what = f"log-densities of {POINTS:,} points"
    return [
        at_least(f"{what} against scipy's gaussian_kde", theirs / ours, 1000, f"{1e3 * ours:.1f} ms"),
        Row(f"{what}: largest error where f > 1e-6", f"{error:.1e}", "at most 3e-3", error <= 3e-3),
    ]
