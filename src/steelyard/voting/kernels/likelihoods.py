"""How likely the correct answers are under a conditional logit, with the gradient and the Hessian that Newton needs."""

import numpy as np

from steelyard.voting.kernels.compilation import compiled

TINY = np.finfo(np.float64).tiny


@compiled
def log_likelihood(starts, x, correct, theta, gradient, hessian):  # type: ignore[no-untyped-def]
    """Return sum_q log P(correct); add its gradient [F], and minus the Hessian of log sum_k exp [F, F].

    P(k) = softmax_k (theta . x_k) over the answers k of a question, which begin at starts [Q]; x [K, F], correct [K].
    """
    features = len(theta)
    p = np.empty(len(x))
    mean = np.empty(features)
    value = 0.0
    for q in range(len(starts)):
        first, end = starts[q], starts[q + 1] if q + 1 < len(starts) else len(x)
        top = -np.inf
        for k in range(first, end):
            p[k] = 0.0
            for i in range(features):
                p[k] += theta[i] * x[k, i]
            top = max(top, p[k])
        every = some = 0.0
        for k in range(first, end):
            p[k] = np.exp(p[k] - top)
            every += p[k]
            some += p[k] if correct[k] else 0.0
        some = max(some, TINY)
        value += np.log(some) - np.log(every)
        mean[:] = 0.0
        for k in range(first, end):
            share_of_right = p[k] / some if correct[k] else 0.0
            p[k] /= every
            for i in range(features):
                gradient[i] += share_of_right * x[k, i]
                mean[i] += p[k] * x[k, i]
                for j in range(i + 1):
                    hessian[i, j] += p[k] * x[k, i] * x[k, j]
        for i in range(features):
            gradient[i] -= mean[i]
            for j in range(i + 1):
                hessian[i, j] -= mean[i] * mean[j]
    for i in range(features):
        for j in range(i):
            hessian[j, i] = hessian[i, j]
    return value


@compiled
def committee_likelihood(starts, width, answer, voter, x, y, correct, theta, stride, gradient, hessian):  # type: ignore[no-untyped-def]
    """Return sum_q log P(correct); add its gradient [F] and minus the Hessian of log sum_k exp [F, F].

    The Hessian is that of every stride-th question, times stride: Newton's steps need no better one.

    P(k) = softmax_k of the sum over responses i of answer k of theta[v] x_i + theta[V + v] y_i, v the voter of i.
    Without y (empty) theta has V entries, else 2 V. A question without a correct answer counts nothing.
    """
    size = len(theta)
    voters = size // 2 if len(y) else size
    widest = max(1, width.max())
    features = np.zeros((widest, size))
    u, p, pull, count = np.zeros(widest), np.zeros(widest), np.zeros(widest), np.zeros(widest, np.int64)
    right = np.zeros(widest, np.bool_)
    mean = np.zeros(size)
    some_of = np.empty(size, np.int64)
    value = 0.0
    for q in range(len(starts) - 1):
        m, curved = width[q], q % stride == 0
        for i in range(starts[q], starts[q + 1]):
            k, v = answer[i], voter[i]
            if k >= 0:
                count[k] += 1
                right[k] = correct[i]
                if v >= 0:
                    u[k] += theta[v] * x[i]
                    if len(y):
                        u[k] += theta[voters + v] * y[i]
                    if curved:
                        features[k, v] += x[i]
                        if len(y):
                            features[k, voters + v] += y[i]
        top, some, every, any_right = -np.inf, 0.0, 0.0, False
        for k in range(m):
            if count[k]:
                top = max(top, u[k])
                any_right = any_right or right[k]
        for k in range(m):
            if count[k]:
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
                k, v = answer[i], voter[i]
                if k >= 0 and v >= 0:
                    gradient[v] += pull[k] * x[i]
                    if len(y):
                        gradient[voters + v] += pull[k] * y[i]
        if any_right and curved:
            for k in range(m):
                if not count[k] or p[k] < 1e-14:
                    continue
                filled = 0
                for f in range(size):
                    if features[k, f] != 0.0:
                        some_of[filled] = f
                        filled += 1
                        mean[f] += p[k] * features[k, f]
                for a in range(filled):
                    f = some_of[a]
                    part = p[k] * features[k, f] * stride
                    for b in range(a + 1):
                        hessian[f, some_of[b]] += part * features[k, some_of[b]]
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
            if count[k] and curved:
                for f in range(size):
                    features[k, f] = 0.0
            p[k], u[k], count[k], right[k] = 0.0, 0.0, 0, False
    for f in range(size):
        for g in range(f):
            hessian[g, f] = hessian[f, g]
    return value
