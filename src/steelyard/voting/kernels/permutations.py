"""Random order: a stream of numbers for each question and resample.

A stream is splitmix64, started from the question's key and the number of the resample. So resample 7 of
a question is the same alone, in a batch, and on any thread, and its first n do not depend on how many are drawn.
"""

import numpy as np

from steelyard.voting.kernels.quantum import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@compiled
def mixed(state):  # type: ignore[no-untyped-def]
    """Scatter the bits of a counter: the output of splitmix64."""
    z = (state ^ (state >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return z ^ (z >> _31)


@compiled
def draw(key, resample, size, most, order):  # type: ignore[no-untyped-def]
    """Put the first `most` of 0 .. size - 1, in random order, at the front of `order` (Fisher-Yates)."""
    state = mixed(key + np.uint64(resample) * _GOLDEN)
    for i in range(size):
        order[i] = i
    for i in range(min(most, size)):
        state += _GOLDEN
        j = i + np.int64(((mixed(state) >> _32) * np.uint64(size - i)) >> _32)
        order[i], order[j] = order[j], order[i]


@compiled
def permutations(starts, keys, first, rows):  # type: ignore[no-untyped-def]
    """Fill rows [copies, R] with each question's row numbers in random order: resamples first, first + 1, .."""
    longest = 1
    for q in range(len(starts) - 1):
        longest = max(longest, starts[q + 1] - starts[q])
    order = np.empty(longest, np.int64)
    for copy in range(len(rows)):
        for q in range(len(starts) - 1):
            size = starts[q + 1] - starts[q]
            draw(keys[q], first + copy, size, size, order)
            for i in range(size):
                rows[copy, starts[q] + i] = starts[q] + order[i]
