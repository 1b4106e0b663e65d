"""Votes whose chance over all subsets of n responses is a formula: pass@n and, but for some ties, best-of-n.

n of N responses are drawn without replacement. That all of them come from k given ones has the
chance  H(k) = C(k, n) / C(N, n)  (hypergeometric), and every chance here is a sum of such terms.
"""

import numpy as np

from steelyard.kernels.grain import compiled


@compiled
def _chances(size, n, h):  # type: ignore[no-untyped-def]
    """Fill h[k] = C(k, n) / C(size, n) for k = 0 .. size, from h[k - 1] = h[k] (k - n) / k."""
    h[size] = 1.0
    for k in range(size, 0, -1):
        h[k - 1] = h[k] * (k - n) / k if k > n else 0.0


@compiled
def pass_at(starts, correct, sizes, share):  # type: ignore[no-untyped-def]
    """The chance that n responses hold a right one [Q, S]: 1 - H(N - c), c of them right."""
    for q in range(len(starts) - 1):
        size = starts[q + 1] - starts[q]
        h = np.empty(size + 1)
        hits = correct[starts[q] : starts[q + 1]].sum()
        for t in range(len(sizes)):
            _chances(size, min(size, sizes[t]), h)
            share[q, t] = 1.0 - h[size - hits]


@compiled
def best_of(starts, answer, scores, correct, sizes, share, both):  # type: ignore[no-untyped-def]
    """The chances [Q, S] that the top score of n responses is shared by right ones alone, and by right and wrong.

    Of the N responses G score above v, r right and w wrong ones score v. The top is v and all who
    reach it are right with the chance H(N-G-w) - H(N-G-w-r); of both kinds with
    H(N-G) - H(N-G-r) - H(N-G-w) + H(N-G-r-w). A missing score lies below all others, an unreadable
    answer is never at the top.
    """
    for q in range(len(starts) - 1):
        size = starts[q + 1] - starts[q]
        h, level, hit, seen = np.empty(size + 1), np.empty(size), np.empty(size, np.bool_), 0
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0:
                level[seen] = scores[i] if scores[i] == scores[i] else -np.inf
                hit[seen] = correct[i]
                seen += 1
        falling = np.argsort(-level[:seen])
        for t in range(len(sizes)):
            _chances(size, min(size, sizes[t]), h)
            share[q, t], both[q, t] = 0.0, 0.0
            left, i = size, 0
            while i < seen and h[left] > 0:
                v, r, w = level[falling[i]], 0, 0
                while i < seen and level[falling[i]] == v:
                    if hit[falling[i]]:
                        r += 1
                    else:
                        w += 1
                    i += 1
                if r > 0:
                    share[q, t] += h[left - w] - h[left - w - r]
                if r > 0 and w > 0:
                    both[q, t] += h[left] - h[left - r] - h[left - w] + h[left - r - w]
                left -= r + w
