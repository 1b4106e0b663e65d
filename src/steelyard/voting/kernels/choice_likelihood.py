"""How likely the correct answers are under a conditional logit, with the gradient and the hessian that Newton needs."""

import numpy as np

from steelyard.voting.kernels.quantum import compiled

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
            given_right = p[k] / some if correct[k] else 0.0
            p[k] /= every
            for i in range(features):
                gradient[i] += given_right * x[k, i]
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
