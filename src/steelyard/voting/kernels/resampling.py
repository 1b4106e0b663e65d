"""Many votes on many random subsets at once: one permutation per resample, nested prefixes, sums carried along.

Random orders come from a stream of splitmix64 that starts from the question's key and the number of the resample. So
resample 7 of a question is the same alone, in a batch and on any thread, and its first n do not depend on how many
are drawn.
"""

import numpy as np

from steelyard.voting.kernels.compilation import compiled
from steelyard.voting.kernels.totals import HUGE, QUANTIZER, TINY, merits, quantum_for

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@compiled
def resample(  # type: ignore[no-untyped-def]
    starts, base, width, answer, scores, correct, keys, weights, sizes, live, column, resamples, begin, end, hits
):
    """Count how often the questions begin..end are answered right, at each size, by each method.

    weights [R, C] holds every distinct weighing once. column [S, K] says which one method k uses at size
    t (-1: none); only the first live[t] are needed at sizes[t] and beyond, sizes rising. Adds to hits
    [Q, S, K]. Verdict for verdict this is the tally of each prefix, ties included.
    """
    columns = weights.shape[1]
    largest = sizes[-1]
    longest, widest = 1, 1
    for q in range(begin, end):
        longest = max(longest, starts[q + 1] - starts[q])
        widest = max(widest, width[q])
    order, slot = np.empty(longest, np.int64), np.empty(longest, np.int64)
    fine, worth, score = np.empty((longest, columns)), np.zeros(longest), np.full(longest, np.nan)
    drawn = np.empty(longest)
    slot_of = np.full(widest, -1, np.int64)
    code, counts, ok = np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest, np.bool_)
    sums = np.empty((widest, columns + 1))  # the last column is scratch
    merit, again = np.empty(widest), np.empty(widest)
    odd = np.empty(columns, np.int64)
    for q in range(begin, end):
        head, size = starts[q], starts[q + 1] - starts[q]
        patchy, faint = _scores_of(head, size, answer, scores, score, worth)
        _weights_of(head, size, answer, weights, fine, odd)
        for r in range(resamples):
            draw(keys[q], r, size, largest, order)
            present, i = 0, 0
            for t in range(len(sizes)):
                until = min(size, sizes[t])
                while i < until:
                    row = order[i]
                    a = answer[head + row]
                    k = -1
                    if a >= 0:
                        k = slot_of[a]
                        if k < 0:
                            k = present
                            slot_of[a] = k
                            code[k], ok[k] = a, correct[base[q] + a]
                            counts[k], merit[k] = 0, 0.0
                            sums[k, : live[t]] = 0.0
                            present += 1
                        counts[k] += 1
                        merit[k] += worth[row]
                        for c in range(live[t]):
                            sums[k, c] += fine[row, c]
                    slot[i] = k
                    i += 1
                settled = not patchy and not (faint and _all_faint(order, until, score))
                weighed = merit
                for k in range(column.shape[1]):
                    c = column[t, k]
                    if c < 0 or present == 0:
                        continue
                    if odd[c] and _sum_again(head, order, until, slot, weights, c, odd[c] == 2, present, sums):
                        c = columns
                    first, tied = _top(sums, c, present)
                    if tied:
                        if not settled:
                            weighed = again
                            _merits_again(order, until, slot, score, drawn, weighed)
                            settled = True
                        first = _break_tie(sums, c, first, present, weighed, counts)
                    hits[q, t, k] += ok[first]
            for k in range(present):
                slot_of[code[k]] = -1


@compiled
def _scores_of(head, size, answer, scores, score, worth):  # type: ignore[no-untyped-def]
    """Copy a question's scores, plain and in quanta; is one missing, is one too small for that quantum?"""
    patchy, faint = False, False
    for i in range(size if scores.size else 0):
        score[i] = scores[head + i]
        worth[i] = (score[i] + QUANTIZER) - QUANTIZER
        patchy = patchy or (answer[head + i] >= 0 and score[i] != score[i])
        faint = faint or score[i] < TINY
    return patchy, faint


@compiled
def _weights_of(head, size, answer, weights, fine, odd):  # type: ignore[no-untyped-def]
    """Copy a question's weights in quanta, and note the columns where a subset may need another."""
    odd[:] = 0
    for i in range(size):
        if answer[head + i] >= 0:
            for c in range(len(odd)):
                w = weights[head + i, c]
                fine[i, c] = (w + QUANTIZER) - QUANTIZER
                if abs(w) > HUGE:
                    odd[c] = 2
                elif abs(w) < TINY:
                    odd[c] = max(odd[c], 1)


@compiled
def _sum_again(head, order, until, slot, weights, c, huge, present, sums):  # type: ignore[no-untyped-def]
    """Sum column c into the scratch column if this subset needs another quantum; say whether it does."""
    largest = 0.0
    for i in range(until):
        if slot[i] >= 0:
            largest = max(largest, abs(weights[head + order[i], c]))
            if largest >= TINY and not huge:
                return False
    if TINY <= largest <= HUGE:
        return False
    quantum = quantum_for(largest)
    scratch = sums.shape[1] - 1
    sums[:present, scratch] = 0.0
    for i in range(until):
        if slot[i] >= 0:
            sums[slot[i], scratch] += (weights[head + order[i], c] + quantum) - quantum
    return True


@compiled
def _all_faint(order, until, score):  # type: ignore[no-untyped-def]
    """Whether every score of the subset is too small for the usual quantum."""
    for i in range(until):
        if score[order[i]] >= TINY:
            return False
    return True


@compiled
def _merits_again(order, until, slot, score, drawn, again):  # type: ignore[no-untyped-def]
    """Sum the scores of a subset as the tally does, missing and tiny ones included."""
    for i in range(until):
        drawn[i] = score[order[i]]
    merits(0, until, slot, drawn, again)


@compiled
def _top(sums, c, present):  # type: ignore[no-untyped-def]
    """The first of the answers with the largest total, and whether there are more."""
    first, tied, top = 0, False, sums[0, c]
    for k in range(1, present):  # without branches: which answer leads cannot be foretold
        value = sums[k, c]
        above = value > top
        tied = (value == top) | (tied & (not above))
        first = k if above else first
        top = value if above else top
    return first, tied


@compiled
def _break_tie(sums, c, first, present, merit, counts):  # type: ignore[no-untyped-def]
    """Among answers with the total of `first`: higher total score, more votes, seen first."""
    top = sums[first, c]
    for k in range(first + 1, present):
        if sums[k, c] == top:
            if merit[k] != merit[first]:
                if merit[k] > merit[first]:
                    first = k
            elif counts[k] > counts[first]:
                first = k
    return first


@compiled
def mixed(state):  # type: ignore[no-untyped-def]
    """Scatter the bits of a counter: the output of splitmix64."""
    z = (state ^ (state >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return z ^ (z >> _31)


@compiled
def draw(key, resample, size, count, order):  # type: ignore[no-untyped-def]
    """Put the first `count` of 0 .. size - 1, in random order, at the front of `order` (Fisher-Yates)."""
    state = mixed(key + np.uint64(resample) * _GOLDEN)
    for i in range(size):
        order[i] = i
    for i in range(min(count, size)):
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
