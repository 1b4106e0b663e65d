"""Logit weighting, w(p) = logit(p) - logit(b), logit(p) = log(p / (1 - p)).

Real scores are saturated and rounded; exact 0 and 1 would weigh infinitely much. They are
clipped to [clip, 1 - clip] first.
"""

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import SettingError
from steelyard.voting.pools import arrays
from steelyard.voting.pools.arrays import Floats

CLIP = arrays.CLIP


def clipped_logit(p: Floats, clip: float = CLIP) -> NDArray[np.float64]:
    """Return logit(p) of the clipped score; the weight is clipped_logit - logit(b).

    >>> clipped_logit(np.array([0.0, 0.5, 1.0])).round(3)
    array([-6.236,  0.   ,  6.236])
    """
    inside = np.clip(np.asarray(p, np.float64), clip, 1 - clip)
    inside /= 1 - inside
    return np.log(inside, out=inside)


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
