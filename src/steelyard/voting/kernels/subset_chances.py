"""The chance, over all subsets of n responses, that pass@n and best-of-n are right.

Pass@n: n of N responses are drawn without replacement. That all of them come from k given ones has the
chance  H(k) = C(k, n) / C(N, n)  (hypergeometric).

Best-of-n: a sum over the levels of the score. Of the N responses G score above v and c score v. The top of n
responses is v with the chance H(N-G) - H(N-G-c). If all responses that score v are right, or all wrong, that is all.
Otherwise the answers at the top are tied; the one with the most votes wins, then the one seen first. Let k_a
responses of a tied answer a score v or less, b_a of them less. Among the subsets without one above v,

    C(k_a, t)               give a t votes,
    C(k_a, t) - C(b_a, t)   of these with one at v, so that a is in the race.

A correct answer wins with M votes where every other has fewer, or is not in the race; it shares the
win with s others that are in the race with M as well. Subsets come in every order, so each of these is
seen first equally often: such a subset counts 1 / (1 + s). Products over the answers, as polynomials
in the number drawn, count the subsets; the sum over M and s is exact.
"""

from math import lgamma

import numpy as np

from steelyard.voting.kernels.compilation import compiled

_NONE = 1e-15  # a level reached less often adds nothing to the digits kept
_LEAST = 1e-200  # numbers drawn less likely than that get a theta of their own


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


@compiled
def best_of(starts, width, answer, scores, correct, sizes, share):  # type: ignore[no-untyped-def]
    """The chance that best-of-n is right [Q, S]. A missing score lies below all others, an unreadable answer loses."""
    for q in range(len(starts) - 1):
        size = starts[q + 1] - starts[q]
        h = np.empty((len(sizes), size + 1))
        drawn = np.minimum(sizes, size)
        for t in range(len(sizes)):
            chances(size, drawn[t], h[t])
        level, code, seen = np.empty(size), np.empty(size, np.int64), 0
        below, at, hit = np.zeros(width[q], np.int64), np.zeros(width[q], np.int64), np.zeros(width[q], np.bool_)
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0:
                level[seen] = scores[i] if scores[i] == scores[i] else -np.inf
                code[seen] = answer[i]
                below[answer[i]] += 1
                hit[answer[i]] = correct[i]
                seen += 1
        falling = np.argsort(-level[:seen])
        share[q] = 0.0
        left, i = size, 0
        while i < seen:
            v, r, w = level[falling[i]], 0, 0
            while i < seen and level[falling[i]] == v:
                a = code[falling[i]]
                at[a] += 1
                r, w, i = r + hit[a], w + (not hit[a]), i + 1
            if r > 0 and w == 0:
                share[q] += h[:, left] - h[:, left - r]
            elif r > 0:
                tied = np.flatnonzero(at)
                share[q] += _most_votes(below[tied], below[tied] - at[tied], hit[tied], left, drawn, h[:, left])
            below -= at
            at[:] = 0
            left -= r + w


@compiled
def _most_votes(votes, out, hit, size, drawn, reach):  # type: ignore[no-untyped-def]
    """The chance [S] that a right one of the tied answers [A] wins, times the chance `reach` that none is above them.

    `votes` and `out` are the k_a and b_a. Each response is drawn independently with the chance theta: given that n
    are drawn, all subsets are equally likely, whatever theta is. The theta of the largest n serves smaller ones too.
    """
    won, open_ = np.zeros(len(drawn)), reach > _NONE
    while open_.any():
        largest = drawn[open_].max()
        theta = (largest + 0.5) / (size + 1.0)
        draws = _binomial(size, theta, largest)
        now = open_ & (draws[drawn * open_] > _LEAST)
        wins = _wins(votes, out, hit, size, theta, largest)
        for t in np.flatnonzero(now):
            won[t] = reach[t] * wins[drawn[t]] / draws[drawn[t]]
        open_ &= ~now
    return won


@compiled
def _wins(votes, out, hit, size, theta, largest):  # type: ignore[no-untyped-def]
    """The chance [most + 1] to draw just n responses and that a correct answer wins; a shared win counts in parts."""
    every, off = np.zeros((len(votes), largest + 1)), np.zeros((len(votes), largest + 1))
    for a in range(len(votes)):
        every[a] = _binomial(votes[a], theta, largest)
        none = 1.0  # C(b_a, t) / C(k_a, t)
        for t in range(min(out[a], largest) + 1):
            off[a, t] = every[a, t] * none
            none *= (out[a] - t) / (votes[a] - t)
    rest = _binomial(size - votes.sum(), theta, largest)
    wins = np.zeros(largest + 1)
    for a in range(len(votes)):
        for m in range(1, min(votes[a], largest) + 1 if hit[a] else 1):
            free = largest - m + 1  # 0 .. most - m others are drawn
            chances_of_rest = np.zeros(
                (min(len(votes), 1 + (largest - m) // m), free)
            )  # [answers that share the win, drawn]
            chances_of_rest[0] = rest[:free]
            others = 0
            for b in range(len(votes)):
                if b != a:
                    chances_of_rest = _joined(chances_of_rest, others, every[b], off[b], m, votes[b])
                    others += 1
            for s in range(len(chances_of_rest)):
                wins[m:] += (every[a, m] - off[a, m]) / (1 + s) * chances_of_rest[s]
    return wins


@compiled
def _joined(chances_of_rest, others, every, off, m, votes):  # type: ignore[no-untyped-def]
    """Let one more answer join the others: drawn fewer than m times, or m times and sharing the win, or not in it."""
    shares, free = chances_of_rest.shape
    joined = np.zeros((shares, free))
    for s in range(min(shares, others + 1)):
        for t in range(min(votes, free - 1) + 1):
            chance = every[t] if t < m else off[t]
            if chance > 0.0:
                for j in range(t, free):
                    joined[s, j] += chance * chances_of_rest[s, j - t]
        if s + 1 < shares and m <= votes:
            for j in range(m, free):
                joined[s + 1, j] += (every[m] - off[m]) * chances_of_rest[s, j - m]
    return joined


@compiled
def _binomial(k, theta, largest):  # type: ignore[no-untyped-def]
    """C(k, t) theta^t (1 - theta)^(k - t) for t = 0 .. most."""
    chance = np.zeros(largest + 1)
    for t in range(min(k, largest) + 1):
        log = lgamma(k + 1.0) - lgamma(t + 1.0) - lgamma(k - t + 1.0)
        chance[t] = np.exp(log + t * np.log(theta) + (k - t) * np.log1p(-theta))
    return chance
