"""Densities of a question's own scores, for the oracles."""

import numpy as np

from steelyard.voting.kernels.compilation import compiled

_ROOT_TAU = float(np.sqrt(2 * np.pi))
_FLOOR = 1e-6  # added to every density, so that no single response decides a vote
_NARROWEST = 0.1  # the least bandwidth of a question's own density, in logits


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
