"""The chance, over all subsets of n responses, that a right one is among them: pass@n.

n of N responses are drawn without replacement. That all of them come from k given ones has the
chance  H(k) = C(k, n) / C(N, n)  (hypergeometric).
"""

import numpy as np

from steelyard.voting.kernels.quantum import compiled


@compiled
def chances(size, n, h):  # type: ignore[no-untyped-def]
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
            chances(size, min(size, sizes[t]), h)
            share[q, t] = 1.0 - h[size - hits]
