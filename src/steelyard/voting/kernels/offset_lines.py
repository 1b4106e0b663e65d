"""Answers as lines over the offset: S_k - beta N_k, where each wins, which are right."""

import numpy as np

from steelyard.voting.kernels.compilation import compiled
from steelyard.voting.kernels.totals import QUANTIZER, TINY, merits


@compiled
def lines(starts, base, width, answer, z, scores, correct, offsets, s, n, merit, ok):  # type: ignore[no-untyped-def]
    """Sum each answer into a line: s - beta * n is its total when every weight is z - beta.

    Writes the answers of question q, in order of appearance, from offsets[q]; fills offsets.
    `merit` is the summed score, as in a tie of the tally. Returns the number of answers and the
    largest z.
    """
    top = -np.inf
    widest = max(1, width.max())
    slot = np.full(widest, -1, np.int64)
    scratch = np.zeros(widest)
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
            k = slot[a]
            if k < begin:
                k = at
                slot[a] = at
                s[at], n[at], merit[at] = 0.0, 0, 0.0
                ok[at] = correct[base[q] + a]
                at += 1
            if scores[i] > largest:
                largest = scores[i]
            if z[i] > top:
                top = z[i]
            s[k] += (z[i] + QUANTIZER) - QUANTIZER
            n[k] += 1
            merit[k] += (scores[i] + QUANTIZER) - QUANTIZER
        if not plain or largest < TINY:
            merits(starts[q], starts[q + 1], answer, scores, scratch)
            for i in range(starts[q], starts[q + 1]):
                if answer[i] >= 0:
                    merit[slot[answer[i]]] = scratch[answer[i]]
    offsets[len(starts) - 1] = at
    return at, top


@compiled
def intervals(offsets, s, n, merit, ok, question, low, high):  # type: ignore[no-untyped-def]
    """For each correct answer, the offsets (low, high) at which it beats every rival.

    Answer k beats j where (s_k - s_j) > beta (n_k - n_j): a rival with fewer votes bounds beta
    above, one with more votes below, one with as many must lose on s (then on merit, then by
    being seen later). Returns how many intervals are not empty.
    """
    count = 0
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
                question[count], low[count], high[count] = q, lo, hi
                count += 1
    return count


@compiled
def correct_at(offsets, s, n, merit, ok, betas, correct):  # type: ignore[no-untyped-def]
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
            correct[t, q] = best >= 0 and ok[best]
