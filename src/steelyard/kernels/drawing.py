"""Random order."""

import numpy as np

from steelyard.kernels.grain import compiled


@compiled
def shuffle_rows(starts, rng, rows):  # type: ignore[no-untyped-def]
    """Fill rows [R] with each question's row numbers in random order (Fisher-Yates)."""
    for q in range(len(starts) - 1):
        for i in range(starts[q], starts[q + 1]):
            j = starts[q] + np.int64(rng.random() * (i - starts[q] + 1))
            rows[i] = rows[j]
            rows[j] = i
