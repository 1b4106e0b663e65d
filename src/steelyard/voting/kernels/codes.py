"""Answers as small codes: number them, count them, carry labels to them."""

import numpy as np

from steelyard.voting.kernels.compilation import standalone


@standalone
def distinct(starts, answer, seen, m):  # type: ignore[no-untyped-def]
    """Count the distinct readable answers of each question; `seen` has -1 for every code."""
    for q in range(len(starts) - 1):
        count = 0
        for i in range(starts[q], starts[q + 1]):
            a = answer[i]
            if a >= 0 and seen[a] != q:
                seen[a] = q
                count += 1
        m[q] = count


@standalone
def code_keys(starts, keys, readable, slots, code, rows, width):  # type: ignore[no-untyped-def]
    """Number each question's distinct keys 0, 1, .. in order of appearance.

    Fills code [R] (-1 where not readable), width [Q], and the front of rows [R] with the row where
    each key first appears; returns how many there are. Open addressing, at most half full; `slots` are a power of two,
    at least twice as many as the responses of any question.
    """
    total = 0
    for q in range(len(starts) - 1):
        size = 2
        while size < 2 * (starts[q + 1] - starts[q]):
            size *= 2
        slots[:size] = -1
        count = 0
        for i in range(starts[q], starts[q + 1]):
            if not readable[i]:
                code[i] = -1
                continue
            key = keys[i]
            key ^= (key >> np.uint64(32)) ^ (key >> np.uint64(17)) ^ (key >> np.uint64(7))
            at = np.int64(key & np.uint64(size - 1))
            while slots[at] >= 0 and keys[slots[at]] != keys[i]:
                at = (at + 1) & (size - 1)
            if slots[at] < 0:
                slots[at] = i
                code[i] = count
                rows[total] = i
                count += 1
                total += 1
            else:
                code[i] = code[slots[at]]
        width[q] = count
    return total
