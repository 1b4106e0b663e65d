"""The paper's rule: try offsets on a grid and keep the first that answers most questions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from steelyard.voting.fitting.offsets.answer_lines import Lines


def grid(lines: Lines, betas: ArrayLike) -> float:
    """Return the first of the offsets with the most correct questions."""
    points = np.asarray(betas, np.float64)
    return float(points[np.argmax(lines.correct_at(points).sum(axis=1))])
