"""Votes of several voices: what each says, whom the others agree with, and the likelihood of what each is worth.

A voice is a source, or several that repeat each other. Its N samples of a question share one vote: each is 1 / N of it
(`unit` [R]). `voice` [R] is a small code; -1 does not vote.
"""

import numpy as np

from steelyard.voting.kernels.quantum import compiled

TINY = np.finfo(np.float64).tiny
NEAR = 1e-9  # totals closer than this are tied


@compiled
def vote_units(starts, voice, voices, unit):  # type: ignore[no-untyped-def]
    """Fill unit [R]: one over the samples of the voice in the question, readable or not; 0 for no voice."""
    count = np.zeros(max(1, voices), np.int64)
    for q in range(len(starts) - 1):
        for i in range(starts[q], starts[q + 1]):
            if voice[i] >= 0:
                count[voice[i]] += 1
        for i in range(starts[q], starts[q + 1]):
            unit[i] = 1.0 / count[voice[i]] if voice[i] >= 0 else 0.0
        for i in range(starts[q], starts[q + 1]):
            if voice[i] >= 0:
                count[voice[i]] = 0


@compiled
def modal_answers(starts, width, answer, source, said):  # type: ignore[no-untyped-def]
    """Fill said [Q, S] with the answer that each source gave most often, the first of such; -1 for none."""
    counts = np.zeros((said.shape[1], max(1, width.max())), np.int64)
    for q in range(len(starts) - 1):
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0 and source[i] >= 0:
                s = source[i]
                counts[s, answer[i]] += 1
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0 and source[i] >= 0:
                s = source[i]
                if said[q, s] < 0 or counts[s, answer[i]] > counts[s, said[q, s]]:
                    said[q, s] = answer[i]
        for i in range(starts[q], starts[q + 1]):
            if answer[i] >= 0 and source[i] >= 0:
                counts[source[i], answer[i]] = 0


@compiled
def source_weights(starts, source, voice, worth, more, weights):  # type: ignore[no-untyped-def]
    """Weigh every response: what its source is worth and what its score adds, by the samples of its voice.

    voice and worth [S] by source; more [R], or empty.
    """
    count = np.zeros(max(1, voice.max() + 1), np.int64)
    for q in range(len(starts) - 1):
        for i in range(starts[q], starts[q + 1]):
            count[voice[source[i]]] += 1
        for i in range(starts[q], starts[q + 1]):
            weights[i] = worth[source[i]] + (more[i] if len(more) else 0.0)
            samples = count[voice[source[i]]]
            if samples > 1:
                weights[i] /= samples
        for i in range(starts[q], starts[q + 1]):
            count[voice[source[i]]] = 0


@compiled
def agreement(starts, width, answer, voice, unit, weight, agrees):  # type: ignore[no-untyped-def]
    """Fill agrees [Q, V]: how much of each voice's vote is for the answer that all the others choose; -1 if not asked.

    Ties of the others count by half. Returns over all questions the mass of pairs of voices that are both outside the
    winner of all, and of those that give the same answer there.
    """
    voices = len(weight)
    most = max(1, width.max())
    said = np.zeros((voices, most))  # of voices with several samples
    total, given = np.zeros(most), np.zeros(most)
    same = both = 0.0
    for q in range(len(starts) - 1):
        m = width[q]
        for i in range(starts[q], starts[q + 1]):
            v = voice[i]
            if v >= 0:
                agrees[q, v] = 0.0
                if answer[i] >= 0:
                    given[answer[i]] += unit[i]
                    total[answer[i]] += unit[i] * weight[v]
                    if unit[i] < 1:
                        said[v, answer[i]] += unit[i]
        best, second = -1, -1.0  # the winner, and the best total beside it
        for k in range(m):
            if best < 0 or total[k] > total[best] + NEAR:
                second = total[best] if best >= 0 else -1.0
                best = k
            else:
                second = max(second, total[k])
        wrong_all = wrong_own = 0.0
        for i in range(starts[q], starts[q + 1]):
            v, k = voice[i], answer[i]
            if v < 0 or k < 0:
                continue
            if unit[i] == 1:
                others = total[k] - weight[v]
                rival = second if k == best else total[best]
                if others > NEAR and others > rival - NEAR:
                    agrees[q, v] = 0.5 if others < rival + NEAR else 1.0
                if k != best:
                    same -= 1.0
                    wrong_all += 1.0
                    wrong_own += 1.0
            elif said[v, k] > 0:  # the first of its responses; then it is empty
                top, ties = NEAR, 0
                for a in range(m):
                    others = total[a] - weight[v] * said[v, a]
                    if others > top + NEAR:
                        top, ties = others, 1
                    elif ties and others > top - NEAR:
                        ties += 1
                wrong = 0.0
                for a in range(m):
                    mine = said[v, a]
                    if mine > 0:
                        if ties and total[a] - weight[v] * mine > top - NEAR:
                            agrees[q, v] += mine / min(ties, 2)
                        if a != best:
                            wrong += mine
                            same -= mine**2
                        said[v, a] = 0.0
                wrong_all += wrong
                wrong_own += wrong**2
        both += wrong_all**2 - wrong_own
        for k in range(m):
            if k != best:
                same += given[k] ** 2
            given[k] = total[k] = 0.0
    return same, both


@compiled
def committee_likelihood(starts, width, answer, voice, x, y, correct, theta, stride, gradient, hessian):  # type: ignore[no-untyped-def]
    """Return sum_q log P(correct); add its gradient [F] and minus the Hessian of log sum_k exp [F, F].

    The Hessian is that of every stride-th question, times stride: Newton's steps need no better one.

    P(k) = softmax_k of the sum over responses i of answer k of theta[v] x_i + theta[V + v] y_i, v the voice of i.
    Without y (empty) theta has V entries, else 2 V. A question without a correct answer counts nothing.
    """
    size = len(theta)
    voices = size // 2 if len(y) else size
    most = max(1, width.max())
    said = np.zeros((most, size))
    u, p, pull, given = np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(most, np.int64)
    right = np.zeros(most, np.bool_)
    mean = np.zeros(size)
    some_of = np.empty(size, np.int64)
    value = 0.0
    for q in range(len(starts) - 1):
        m, curved = width[q], q % stride == 0
        for i in range(starts[q], starts[q + 1]):
            k, v = answer[i], voice[i]
            if k >= 0:
                given[k] += 1
                right[k] = correct[i]
                if v >= 0:
                    u[k] += theta[v] * x[i]
                    if len(y):
                        u[k] += theta[voices + v] * y[i]
                    if curved:
                        said[k, v] += x[i]
                        if len(y):
                            said[k, voices + v] += y[i]
        top, some, every, any_right = -np.inf, 0.0, 0.0, False
        for k in range(m):
            if given[k]:
                top = max(top, u[k])
                any_right = any_right or right[k]
        for k in range(m):
            if given[k]:
                p[k] = np.exp(u[k] - top)
                every += p[k]
                some += p[k] if right[k] else 0.0
        if any_right:
            some = max(some, TINY)
            value += np.log(some) - np.log(every)
            for k in range(m):
                p[k] /= every
                pull[k] = (p[k] * every / some if right[k] else 0.0) - p[k]
            for i in range(starts[q], starts[q + 1]):
                k, v = answer[i], voice[i]
                if k >= 0 and v >= 0:
                    gradient[v] += pull[k] * x[i]
                    if len(y):
                        gradient[voices + v] += pull[k] * y[i]
        if any_right and curved:
            for k in range(m):
                if not given[k] or p[k] < 1e-14:
                    continue
                filled = 0
                for f in range(size):
                    if said[k, f] != 0.0:
                        some_of[filled] = f
                        filled += 1
                        mean[f] += p[k] * said[k, f]
                for a in range(filled):
                    f = some_of[a]
                    part = p[k] * said[k, f] * stride
                    for b in range(a + 1):
                        hessian[f, some_of[b]] += part * said[k, some_of[b]]
            filled = 0
            for f in range(size):
                if mean[f] != 0.0:
                    some_of[filled] = f
                    filled += 1
            for a in range(filled):
                f = some_of[a]
                for b in range(a + 1):
                    hessian[f, some_of[b]] -= stride * mean[f] * mean[some_of[b]]
            mean[:] = 0.0
        for k in range(m):
            if given[k] and curved:
                for f in range(size):
                    said[k, f] = 0.0
            p[k], u[k], given[k], right[k] = 0.0, 0.0, 0, False
    for f in range(size):
        for g in range(f):
            hessian[g, f] = hessian[f, g]
    return value
