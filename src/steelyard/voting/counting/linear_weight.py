"""Linear weighting, w(p) = p - b: the score itself, moved so that b is worth nothing."""

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Floats


def evidence(p: Floats) -> NDArray[np.float64]:
    """Return p itself; the weight is evidence - b."""
    return np.asarray(p, np.float64)


def shifted(evidence: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    """Return the weights evidence - beta; an infinite beta is its limit, one vote per response.

    As beta goes to minus infinity every response is worth the same and the vote becomes the
    majority vote; towards plus infinity each counts against its answer equally.

    >>> shifted(np.array([0.2, 0.9]), 0.5)
    array([-0.3,  0.4])
    >>> shifted(np.array([0.2, 0.9]), -np.inf)
    array([1., 1.])
    """
    if np.isinf(beta):
        return np.full_like(evidence, -np.sign(beta))
    return evidence - beta
