"""The vote itself: the winner of every question, its total, lead and votes, in one pass over the responses.

The total and the votes of an answer are one integer in the usual case: the low 52 bits sum the weights in units of
2^-36, the bits above count the votes, so a response costs one addition in memory. The unit is that of totals.py:
adding QUANTIZER to a weight leaves it in the low bits of the float, rounded, and `ZERO` are the bits of QUANTIZER.
Below 16 a weight has 40 bits, and 2,047 of them stay within 51. All other questions, and ties, are counted again with
floats. Both ways are exact, so a verdict does not depend on which of them was taken.
"""

import numpy as np

from steelyard.voting.kernels.compilation import standalone
from steelyard.voting.kernels.totals import HUGE, QUANTIZER, QUANTUM, TINY, break_tie, quantum_for, sum_again

ZERO = int(np.float64(QUANTIZER).view(np.int64))
BITS = 52
VOTE, HALF = 1 << BITS, 1 << (BITS - 1)
SMALL, LARGE = int(2 * TINY / QUANTUM), int(16 / QUANTUM)  # in units: the largest weight lies between them
MOST = 2047  # responses
ONE = np.uint64(1)  # an index that is not signed need not be checked for being negative


@standalone
def tally(  # type: ignore[no-untyped-def]
    starts, width, answer, weights, scores, begin, end, packed, sums, counts, merit,
    code, total, margin, positive, votes, cast,
):  # fmt: skip
    """Count the questions begin..end: the winner, its total, lead and votes; all positive weight, all votes.

    Ties: higher total score (a missing one counts as the question's mean), then more votes,
    then the answer seen first. Returns whether every total is finite. Answers are counted in `packed`, `sums`, `counts`
    and `merit`, which are 0 before and hold one more entry than the largest width.
    """
    finite = True  # `packed` has answer a at a + 1, so the unreadable ones are at 0
    last = starts[begin]
    for q in range(np.uint64(begin), np.uint64(end)):
        first, last = last, starts[q + ONE]
        bits = np.int64(0)  # of all weights, whatever their sign
        for i in range(np.uint64(first), np.uint64(last)):
            units = np.float64(weights[i] + QUANTIZER).view(np.int64) - ZERO
            packed[np.uint32(answer[i] + 1)] += units + VOTE
            bits |= units ^ (units >> 63)
        best, top, second, plus, everything, winner = np.int64(-1), -HALF, -HALF, 0, 0, 0
        ordinary = SMALL <= bits < LARGE and last - first <= MOST
        if packed[0] != 0:
            ordinary = ordinary and _one_of(SMALL * QUANTUM, first, last, answer, weights)
            packed[0] = 0
        for a in range(np.uint64(width[q])):
            both = packed[a + ONE]
            packed[a + ONE] = 0
            units = (both << (64 - BITS)) >> (64 - BITS)
            key = units if both != 0 else -HALF
            everything += both
            plus += max(units, 0)
            second = max(second, min(top, key))
            better = key > top
            best = np.int64(a) if better else best
            winner = both if better else winner
            top = key if better else top
        if not ordinary or second == top:
            written = (code, total, margin, positive, votes, cast)
            finite = _with_floats(q, starts, width, answer, weights, scores, sums, counts, merit, *written) and finite
            continue
        code[q] = best
        total[q] = top * QUANTUM
        votes[q] = (winner + HALF) >> BITS
        margin[q] = (top - second if second > -HALF else abs(top)) * QUANTUM
        positive[q] = plus * QUANTUM
        cast[q] = (everything + HALF) >> BITS
    return finite


@standalone
def _one_of(size, first, last, answer, weights):  # type: ignore[no-untyped-def]
    """Whether a readable response has a weight of at least this size."""
    for i in range(first, last):
        if answer[i] >= 0 and abs(weights[i]) >= size:
            return True
    return False


@standalone
def _with_floats(  # type: ignore[no-untyped-def]
    q, starts, width, answer, weights, scores, sums, counts, merit, code, total, margin, positive, votes, cast
):
    """Count one question of any weights and size, and break its tie; `sums` and `counts` are 0 before and after."""
    first, last = starts[q], starts[q + ONE]
    largest = 0.0
    for i in range(first, last):
        a = answer[i]
        if a >= 0:
            largest = max(largest, abs(weights[i]))
            sums[a] += (weights[i] + QUANTIZER) - QUANTIZER
            counts[a] += 1
    if largest < TINY or largest > HUGE:
        sum_again(first, last, answer, weights, quantum_for(largest), sums)
    best, second, plus, absolute, present, tied = -1, -np.inf, 0.0, 0.0, 0, False
    cast[q], votes[q], total[q], margin[q] = 0, 0, 0.0, 0.0
    for a in range(width[q]):
        if counts[a] > 0:
            present += 1
            cast[q] += counts[a]
            s = sums[a]
            absolute += abs(s)
            if s > 0:
                plus += s
            if best < 0 or s > sums[best]:
                if best >= 0:
                    second = sums[best]
                best, tied = a, False
            else:
                tied = tied or s == sums[best]
                second = max(second, s)
    if tied:
        best = break_tie(first, last, answer, scores, sums, counts, merit, best)
    code[q] = best
    if best >= 0:
        total[q] = sums[best]
        votes[q] = counts[best]
        margin[q] = sums[best] - second if present > 1 else absolute
    positive[q] = plus
    for a in range(width[q]):
        sums[a] = 0.0
        counts[a] = 0
    return absolute < np.inf
