"""Votes among similar answers. K [width, width] of question q begins at block[q] in `values`, row by row.

Sums are exact, as in totals.py: what a response adds to a similar answer is rounded to the quantum of its question.
"""

import numpy as np

from steelyard.voting.kernels.compilation import compiled
from steelyard.voting.kernels.totals import merits, quantum_for

COARSE = 1.5 * 2.0**26  # adding and subtracting it rounds to a multiple of 2^-26


@compiled
def smooth(block, width, offsets, values, x, out):  # type: ignore[no-untyped-def]
    """out_k = sum over the answers j of its question of K(k, j) x_j; answer a of question q is at offsets[q] + a."""
    for q in range(len(width)):
        smooth_block(block[q], width[q], values, x[offsets[q] : offsets[q] + width[q]], out[offsets[q] :])


@compiled
def smooth_block(first, size, values, x, out):  # type: ignore[no-untyped-def]
    """The same for one question; where K is 0 or 1 nothing is rounded."""
    largest = 0.0
    for j in range(size):
        largest = max(largest, abs(x[j]))
    quantum = quantum_for(largest)
    for k in range(size):
        total = 0.0
        for j in range(size):
            alike = values[first + k * size + j]
            if alike == 1.0:
                total += x[j]
            elif alike > 0.0 and x[j] != 0.0:
                total += (np.float64(alike) * x[j] + quantum) - quantum
        out[k] = total


@compiled
def tally_similar(  # type: ignore[no-untyped-def]
    starts, width, answer, weights, scores, block, values, spread, alike,
    code, total, margin, positive, votes, cast, support,
):  # fmt: skip
    """Decide every question as `tally` does, with what similar answers add if `spread`.

    `votes` are the responses that are like the winner, `support` is the sum of all similarities to it, and `margin` is
    the lead over the best answer that is not like it. Returns whether every total is finite.
    """
    widest = 1
    for q in range(len(width)):
        widest = max(widest, width[q])
    sums, u, counts, near = np.zeros(widest), np.zeros(widest), np.zeros(widest), np.zeros(widest)
    merit, near_merit = np.zeros(widest), np.zeros(widest)
    finite = True
    for q in range(len(width)):
        size, first, last = width[q], starts[q], starts[q + 1]
        sums[:size], counts[:size], merit[:size] = 0.0, 0.0, 0.0
        largest = 0.0
        for i in range(first, last):
            if answer[i] >= 0:
                largest = max(largest, abs(weights[i]))
        quantum = quantum_for(largest)
        for i in range(first, last):
            if answer[i] >= 0:
                sums[answer[i]] += (weights[i] + quantum) - quantum
                counts[answer[i]] += 1.0
        finite = finite and largest < np.inf
        smooth_block(block[q], size, values, counts, near)
        if spread:
            smooth_block(block[q], size, values, sums, u)
        else:
            for a in range(size):  # parts of a total may add up to a little more or less than another's
                u[a] = (sums[a] + COARSE) - COARSE
        if scores.size:
            merits(first, last, answer, scores, merit)
            smooth_block(block[q], size, values, merit, near_merit)
        best = -1
        for i in range(first, last):  # in the order they were seen
            a = answer[i]
            if a >= 0 and a != best:
                if best < 0 or u[a] > u[best]:
                    best = a
                elif u[a] == u[best]:
                    if scores.size and near_merit[a] != near_merit[best]:
                        if near_merit[a] > near_merit[best]:
                            best = a
                    elif near[a] != near[best]:
                        if near[a] > near[best]:
                            best = a
                    elif counts[a] > counts[best]:
                        best = a
        code[q], cast[q], votes[q], positive[q] = best, 0, 0, 0.0
        total[q], margin[q], support[q] = 0.0, 0.0, 0.0
        rival = -np.inf
        for a in range(size):
            if counts[a] > 0:
                cast[q] += np.int64(counts[a])
                positive[q] += max(sums[a], 0.0)
                if values[block[q] + best * size + a] >= alike:
                    votes[q] += np.int64(counts[a])
                else:
                    rival = max(rival, u[a] if spread else sums[a])
        if best >= 0:
            total[q], support[q] = u[best] if spread else sums[best], near[best]
            margin[q] = total[q] - rival if rival > -np.inf else abs(total[q])
    return finite


@compiled
def similar_rivals(starts, width, answer, block, values, alike, k, code, rival):  # type: ignore[no-untyped-def]
    """Fill rival[q, i] with the most votes of any answer that is not like code[q, i], after k[i] responses; k rises.

    The votes of an answer are the responses that are like it.
    """
    widest = 1
    for q in range(len(width)):
        widest = max(widest, width[q])
    counts = np.zeros(widest, np.int64)
    for q in range(len(width)):
        size = width[q]
        counts[:size] = 0
        row = starts[q]
        for i in range(len(k)):
            while row < min(starts[q] + k[i], starts[q + 1]):
                if answer[row] >= 0:
                    counts[answer[row]] += 1
                row += 1
            highest = 0
            for a in range(size):
                if counts[a] > 0 and (code[q, i] < 0 or values[block[q] + code[q, i] * size + a] < alike):
                    together = 0
                    for b in range(size):
                        if values[block[q] + a * size + b] >= alike:
                            together += counts[b]
                    highest = max(highest, together)
            rival[q, i] = highest


@compiled
def source_similarities(starts, width, offsets, answer, voter, unit, block, values, x):  # type: ignore[no-untyped-def]
    """Add to x[k, v] the similarity of answer k to the responses of voter v, each times its unit."""
    for q in range(len(width)):
        size = width[q]
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0 and voter[i] >= 0:
                for k in range(size):
                    x[offsets[q] + k, voter[i]] += unit[i] * values[block[q] + k * size + answer[i]]
