"""Along the samples of a question: how many votes the strongest other answer has."""

import numpy as np

from steelyard.voting.kernels.quantum import compiled


@compiled
def rivals(starts, width, answer, k, code, rival):  # type: ignore[no-untyped-def]
    """Fill rival[q, i] with the most votes of any answer but code[q, i] among the first k[i] responses; k rises."""
    counts = np.zeros(max(1, width.max()), np.int64)
    for q in range(len(starts) - 1):
        counts[: width[q]] = 0
        row = starts[q]
        for i in range(len(k)):
            while row < min(starts[q] + k[i], starts[q + 1]):
                if answer[row] >= 0:
                    counts[answer[row]] += 1
                row += 1
            most = 0
            for a in range(width[q]):
                if a != code[q, i]:
                    most = max(most, counts[a])
            rival[q, i] = most
