"""The evidence of scores: their odds, before the logarithm, and what is rounded and filled in after it."""

from steelyard.voting.kernels.compilation import standalone
from steelyard.voting.kernels.totals import QUANTIZER


@standalone
def clipped_odds(p, low, high, odds):  # type: ignore[no-untyped-def]
    """Fill odds [R] with p / (1 - p) of scores clipped to [low, high]; NaN stays."""
    for i in range(len(p)):
        inside = low if p[i] < low else p[i]
        inside = high if inside > high else inside
        odds[i] = inside / (1 - inside)


@standalone
def fill_evidence(z, missing, rounded):  # type: ignore[no-untyped-def]
    """Fill rounded [R] with z in multiples of 2^-36 (totals.py); NaN becomes `missing`."""
    for i in range(len(z)):
        known = z[i] if z[i] == z[i] else missing
        rounded[i] = (known + QUANTIZER) - QUANTIZER
