"""Ranks of scores within a question, with the ends of every group of equal scores."""

import numpy as np

from steelyard.voting.kernels.compilation import compiled

FEW = 64  # scores that are compared with each other faster than they are sorted


@compiled
def score_ranks(starts, answer, scores, below, upto, size):  # type: ignore[no-untyped-def]
    """Count, among the responses of a question with an answer and a score, those that score less and at most as much.

    `size` [Q] is the number of such responses; the others have below = upto = 0.
    """
    largest = 0
    for q in range(len(starts) - 1):
        largest = max(largest, starts[q + 1] - starts[q])
    values, rows = np.empty(largest), np.empty(largest, np.int64)
    for q in range(len(starts) - 1):
        count = 0
        for i in range(starts[q], starts[q + 1]):
            below[i], upto[i] = 0, 0
            if answer[i] >= 0 and scores[i] == scores[i]:
                values[count], rows[count] = scores[i], i
                count += 1
        size[q] = count
        if count > FEW:
            rank_sorted(values[:count], rows, below, upto)
        else:
            rank_compared(values[:count], rows, below, upto)


@compiled
def rank_compared(values, rows, below, upto):  # type: ignore[no-untyped-def]
    """Rank few scores by comparing each with all others."""
    for k in range(len(values)):
        value, lower, not_higher = values[k], 0, 0
        for j in range(len(values)):
            lower += values[j] < value
            not_higher += values[j] <= value
        below[rows[k]], upto[rows[k]] = lower, not_higher


@compiled
def rank_sorted(values, rows, below, upto):  # type: ignore[no-untyped-def]
    """Rank many scores by sorting them."""
    order = np.argsort(values)
    first = 0
    while first < len(order):
        end = first + 1
        while end < len(order) and values[order[end]] == values[order[first]]:
            end += 1
        for k in range(first, end):
            below[rows[order[k]]], upto[rows[order[k]]] = first, end
        first = end
