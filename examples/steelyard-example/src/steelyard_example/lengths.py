"""Lengths: texts are as similar as their lengths. What a real one would compare is up to you."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.answers.similarities.similarity import Similarity


class Lengths(Similarity):
    """The shorter length over the longer one."""

    name = "lengths"  # what the user types, and the name of the entry point
    summary = "Ratio of the lengths of two texts."

    def matrix(self, texts: Sequence[str], prompt: str | None) -> NDArray[np.float32]:  # noqa: ARG002
        """Return the similarities of all pairs of texts: in [0, 1], symmetric, 1 on the diagonal."""
        length = np.array([len(text) + 1 for text in texts], np.float32)
        return np.asarray(np.minimum.outer(length, length) / np.maximum.outer(length, length), np.float32)
