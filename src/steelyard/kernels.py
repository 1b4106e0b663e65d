"""The few compiled loops. Arrays in, arrays out; every loop walks one question at a time.

Shapes used throughout: R responses sorted by question, Q questions.
`starts` [Q+1] says where a question's responses begin; `answer` [R] is a small code within
the question (-1 = unreadable); `width` [Q] is one more than the largest code it may hold.

Sums are exact. Weights are rounded to a multiple of 2^-36 as they are added (finer in a question whose
weights are all tiny, coarser where one is huge), so a total below 2^17 carries no rounding error at
all: votes do not depend on the order of the responses, ties are true ties, and calibration agrees
with the vote to the last bit.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

# Adding and subtracting 1.5 * 2^(52-36) rounds a float64 to a multiple of 2^-36.
SNAP = 1.5 * 2.0**16
_TINY, _HUGE = 2.0**-10, 2.0**15  # the largest value of a question for which that grain is right
_ROOT_TAU = float(np.sqrt(2 * np.pi))
_FLOOR = 1e-6  # added to every density, so that no single response decides a vote
_NARROWEST = 0.1  # the least bandwidth of a question's own density, in logits


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without the interpreter lock; cache the machine code where a folder is writable."""
    try:
        return numba.njit(nogil=True, cache=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # numba found no writable place for its cache
        return numba.njit(nogil=True)(function)  # type: ignore[no-any-return]


@compiled
def tally(starts, width, answer, weights, scores, begin, end, code, total, margin, positive, votes, cast):  # type: ignore[no-untyped-def]
    """Count the questions begin..end: the winner, its total, lead and votes; all positive weight, all votes.

    Ties: higher total score (a missing one counts as the question's mean), then more votes,
    then the answer seen first. Returns whether every total is finite.
    """
    finite = True
    most = 1
    for q in range(begin, end):
        most = max(most, width[q])
    sums = np.zeros(most)
    counts = np.zeros(most, np.int64)
    merit = np.zeros(most)
    for q in range(begin, end):
        largest = 0.0
        for i in range(starts[q], starts[q + 1]):
            a = answer[i]
            if a >= 0:
                largest = max(largest, abs(weights[i]))
                sums[a] += (weights[i] + SNAP) - SNAP
                counts[a] += 1
        if largest < _TINY or largest > _HUGE:
            _sum_again(starts[q], starts[q + 1], answer, weights, _grain(largest), sums)
        best, second, plus, absolute, present, tied = -1, -np.inf, 0.0, 0.0, 0, False
        cast[q] = 0
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
            best = _break_tie(starts[q], starts[q + 1], answer, scores, sums, counts, merit, best)
        code[q] = best
        if best >= 0:
            total[q] = sums[best]
            votes[q] = counts[best]
            margin[q] = sums[best] - second if present > 1 else absolute
        positive[q] = plus
        for a in range(width[q]):
            sums[a] = 0.0
            counts[a] = 0
        finite = finite and absolute < np.inf
    return finite


@compiled
def _grain(largest):  # type: ignore[no-untyped-def]
    """The constant that rounds values up to `largest` so that thousands of them add exactly."""
    if _TINY <= largest <= _HUGE or not 0 < largest < np.inf:
        return SNAP
    return SNAP * 2.0 ** np.ceil(np.log2(largest))


@compiled
def _sum_again(first, last, answer, weights, grain, sums):  # type: ignore[no-untyped-def]
    """Sum the weights of a question's answers with another grain."""
    for i in range(first, last):
        if answer[i] >= 0:
            sums[answer[i]] = 0.0
    for i in range(first, last):
        if answer[i] >= 0:
            sums[answer[i]] += (weights[i] + grain) - grain


@compiled
def _merits(first, last, answer, scores, merit):  # type: ignore[no-untyped-def]
    """Sum the scores of a question's answers; a missing one counts as the question's mean."""
    known, total, largest = 0, 0.0, 0.0
    for i in range(first, last):
        if answer[i] >= 0:
            merit[answer[i]] = 0.0
        if scores[i] == scores[i]:
            total += scores[i]
            largest = max(largest, scores[i])
            known += 1
    mean = total / known if known else 0.0
    grain = _grain(np.float64(largest))
    for i in range(first, last):
        if answer[i] >= 0:
            score = scores[i] if scores[i] == scores[i] else mean
            merit[answer[i]] += (score + grain) - grain


@compiled
def _break_tie(first, last, answer, scores, sums, counts, merit, best):  # type: ignore[no-untyped-def]
    """Among answers with the total of `best`: higher total score, more votes, seen first."""
    top = sums[best]
    if scores.size:
        _merits(first, last, answer, scores, merit)
    winner = -1
    for i in range(first, last):
        a = answer[i]
        if a >= 0 and sums[a] == top and a != winner:
            if winner < 0:
                winner = a
            elif scores.size and merit[a] != merit[winner]:
                if merit[a] > merit[winner]:
                    winner = a
            elif counts[a] > counts[winner]:
                winner = a
    return winner


@compiled
def best_weights(starts, width, answer, scores, weights):  # type: ignore[no-untyped-def]
    """Weight 1 on the first response of each answer that reaches the question's top score.

    Without any score in the question every response gets 1: the majority vote.
    """
    given = np.full(max(1, width.max()), -1, np.int64)
    for q in range(len(starts) - 1):
        top = -np.inf
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0 and scores[i] > top:
                top = scores[i]
        for i in range(starts[q], starts[q + 1]):
            a = answer[i]
            if a < 0:
                weights[i] = 0.0
            elif top == -np.inf:
                weights[i] = 1.0
            elif scores[i] == top and given[a] != q:
                weights[i] = 1.0
                given[a] = q
            else:
                weights[i] = 0.0


@compiled
def distinct(starts, width, answer, m):  # type: ignore[no-untyped-def]
    """Count the distinct readable answers of each question."""
    seen = np.full(max(1, width.max()), -1, np.int64)
    for q in range(len(starts) - 1):
        count = 0
        for i in range(starts[q], starts[q + 1]):
            a = answer[i]
            if a >= 0 and seen[a] != q:
                seen[a] = q
                count += 1
        m[q] = count


@compiled
def code_keys(starts, keys, readable, code, rows, width):  # type: ignore[no-untyped-def]
    """Number each question's distinct keys 0, 1, .. in order of appearance.

    Fills code [R] (-1 where not readable), width [Q], and the front of rows [R] with the row where
    each key first appears; returns how many there are. Open addressing, at most half full.
    """
    longest = 1
    for q in range(len(starts) - 1):
        longest = max(longest, starts[q + 1] - starts[q])
    room = 2
    while room < 2 * longest:
        room *= 2
    slots = np.empty(room, np.int64)
    found = 0
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
                rows[found] = i
                count += 1
                found += 1
            else:
                code[i] = code[slots[at]]
        width[q] = count
    return found


@compiled
def label_answers(starts, base, answer, correct, right):  # type: ignore[no-untyped-def]
    """Carry labels from responses to answers; return a row that contradicts an earlier one, or -1."""
    known = np.zeros(right.size, np.bool_)
    for q in range(len(starts) - 1):
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0:
                k = base[q] + answer[i]
                if known[k] and right[k] != correct[i]:
                    return i
                known[k] = True
                right[k] = correct[i]
    return -1


@compiled
def lines(starts, base, width, answer, z, scores, right, offsets, s, n, merit, ok):  # type: ignore[no-untyped-def]
    """Sum each answer into a line: s - beta * n is its total when every weight is z - beta.

    Writes the answers of question q, in order of appearance, from offsets[q]; fills offsets.
    `merit` is the summed score, as in a tie of the tally. Returns the number of answers and the
    largest z.
    """
    top = -np.inf
    most = max(1, width.max())
    place = np.full(most, -1, np.int64)
    scratch = np.zeros(most)
    at = 0
    for q in range(len(starts) - 1):
        begin = at
        offsets[q] = begin
        plain = True
        largest = 0.0
        for i in range(starts[q], starts[q + 1]):
            a = answer[i]
            plain = plain and scores[i] == scores[i]
            if a < 0:
                continue
            k = place[a]
            if k < begin:
                k = at
                place[a] = at
                s[at], n[at], merit[at] = 0.0, 0, 0.0
                ok[at] = right[base[q] + a]
                at += 1
            if scores[i] > largest:
                largest = scores[i]
            if z[i] > top:
                top = z[i]
            s[k] += (z[i] + SNAP) - SNAP
            n[k] += 1
            merit[k] += (scores[i] + SNAP) - SNAP
        if not plain or largest < _TINY:
            _merits(starts[q], starts[q + 1], answer, scores, scratch)
            for i in range(starts[q], starts[q + 1]):
                if answer[i] >= 0:
                    merit[place[answer[i]]] = scratch[answer[i]]
    offsets[len(starts) - 1] = at
    return at, top


@compiled
def intervals(offsets, s, n, merit, ok, question, low, high):  # type: ignore[no-untyped-def]
    """For each correct answer, the offsets (low, high) at which it beats every rival.

    Answer k beats j where (s_k - s_j) > beta (n_k - n_j): a rival with fewer votes bounds beta
    above, one with more votes below, one with as many must lose on s (then on merit, then by
    being seen later). Returns how many intervals are not empty.
    """
    found = 0
    for q in range(len(offsets) - 1):
        for k in range(offsets[q], offsets[q + 1]):
            if not ok[k]:
                continue
            lo, hi = -np.inf, np.inf
            for j in range(offsets[q], offsets[q + 1]):
                if j == k:
                    continue
                ds = s[k] - s[j]
                dn = n[k] - n[j]
                if dn > 0:
                    hi = min(hi, ds / dn)
                elif dn < 0:
                    lo = max(lo, ds / dn)
                else:
                    if ds == 0:
                        ds = merit[k] - merit[j]
                    if ds < 0 or (ds == 0 and j < k):
                        hi = -np.inf
                        break
            if lo < hi:
                question[found], low[found], high[found] = q, lo, hi
                found += 1
    return found


@compiled
def right_at(offsets, s, n, merit, ok, betas, right):  # type: ignore[no-untyped-def]
    """Which questions are answered right at each offset [T, Q]; an infinite one is its limit."""
    for t in range(len(betas)):
        beta = betas[t]
        for q in range(len(offsets) - 1):
            best, top = -1, 0.0
            for k in range(offsets[q], offsets[q + 1]):
                if beta == -np.inf:
                    value = np.float64(n[k])
                elif beta == np.inf:
                    value = -np.float64(n[k])
                else:
                    value = s[k] - beta * n[k]
                if best < 0 or value > top:
                    best, top = k, value
                elif value == top:
                    if merit[k] > merit[best] or (merit[k] == merit[best] and n[k] > n[best]):
                        best = k
            right[t, q] = best >= 0 and ok[best]


@compiled
def question_ratios(starts, z, kind, folds, ratio):  # type: ignore[no-untyped-def]
    """Log-density ratio log f1(z) / f0(z) of every response from its own question's labels.

    kind [R]: 1 correct, 0 incorrect, -1 not to be weighed (unreadable or without a score).
    folds = 1: the densities of all responses, the one judged included, and Silverman's bandwidth
    for each class, as the paper prints it. folds = 2: only responses of the other parity, and
    the spread of both classes together, for half the samples are few. ratio [R] is 0 where a
    class is empty.
    """
    for q in range(len(starts) - 1):
        for fold in range(folds):
            count, mean, squares = np.zeros(3), np.zeros(3), np.zeros(3)  # wrong, right, both
            for i in range(starts[q], starts[q + 1]):
                if kind[i] >= 0 and (folds == 1 or (i - starts[q]) % 2 != fold):
                    for c in (kind[i], 2):
                        count[c] += 1
                        step = z[i] - mean[c]
                        mean[c] += step / count[c]
                        squares[c] += step * (z[i] - mean[c])
            h = np.empty(2)
            for c in range(2):
                k = c if folds == 1 and count[c] > 1 else 2
                sd = np.sqrt(squares[k] / (count[k] - 1)) if count[k] > 1 else 0.0
                h[c] = max(sd * (0.75 * max(count[c], 1.0)) ** -0.2, _NARROWEST)
            for i in range(starts[q], starts[q + 1]):
                if folds == 2 and (i - starts[q]) % 2 != fold:
                    continue
                ratio[i] = 0.0
                if kind[i] < 0 or count[0] == 0 or count[1] == 0:
                    continue
                density = np.zeros(2)
                for j in range(starts[q], starts[q + 1]):
                    c = kind[j]
                    if c >= 0 and (folds == 1 or (j - starts[q]) % 2 != fold):
                        u = (z[i] - z[j]) / h[c]
                        density[c] += np.exp(-0.5 * u * u)
                one = density[1] / (count[1] * h[1] * _ROOT_TAU) + _FLOOR
                nil = density[0] / (count[0] * h[0] * _ROOT_TAU) + _FLOOR
                ratio[i] = np.log(one) - np.log(nil)


@compiled
def shuffle_rows(starts, rng, rows):  # type: ignore[no-untyped-def]
    """Fill rows [R] with each question's row numbers in random order (Fisher-Yates)."""
    for q in range(len(starts) - 1):
        for i in range(starts[q], starts[q + 1]):
            j = starts[q] + np.int64(rng.random() * (i - starts[q] + 1))
            rows[i] = rows[j]
            rows[j] = i
