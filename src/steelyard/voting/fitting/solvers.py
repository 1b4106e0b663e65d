"""Numerical methods: Newton's with halved steps, which maximises every likelihood in this package, and rank-one fits.

    theta <- theta + size * H^-1 g,     size = 1, 1/2, 1/4, .. until the value does not fall

g: the gradient; H: the Hessian with its sign turned, or Fisher's information.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from steelyard.voting.pools.arrays import Bools

Vector = NDArray[np.float64]
Objective = Callable[[Vector], tuple[float, Vector, NDArray[np.float64]]]  # value, gradient, minus the Hessian
ROUNDS = 100


def maximise(
    objective: Objective,
    start: Vector,
    *,
    free: Bools | None = None,
    steps: int = 50,
    tolerance: float = 1e-10,
    smallest: float = 1e-6,
    farthest: float = np.inf,
) -> Vector:
    """Climb from `start` over the free entries until a step gains less than `tolerance`, relative to the value.

    `smallest` is the least part of a step that is tried; a value without a maximum is left beyond `farthest`.

    >>> def parabola(x):
    ...     return -float((x - 3) @ (x - 3)), -2 * (x - 3), 2 * np.eye(2)
    >>> maximise(parabola, np.zeros(2)), maximise(parabola, np.zeros(2), free=np.array([True, False]))
    (array([3., 3.]), array([3., 0.]))
    """
    theta = np.array(start, np.float64)
    among = np.ones(len(theta), bool) if free is None else free
    square = np.ix_(among, among)
    value, gradient, hessian = objective(theta)
    for _ in range(steps):
        step = np.zeros(len(theta))
        step[among] = np.linalg.solve(hessian[square], gradient[among])
        size = 1.0
        tried = objective(theta + step)
        while not tried[0] >= value and size > smallest:  # also where it is not a number
            size /= 2
            tried = objective(theta + size * step)
        if not tried[0] >= value:
            break
        gain, theta = tried[0] - value, theta + size * step
        value, gradient, hessian = tried
        if gain < tolerance * (1 + abs(value)) or np.abs(theta).max(initial=0.0) > farthest:
            break
    return theta


def ridge(objective: Objective, penalty: Vector, centre: Vector | float = 0.0) -> Objective:
    """The objective less penalty_v (theta_v - centre_v)^2 / 2 for every entry."""
    curvature = np.diag(penalty)

    def penalised(theta: Vector) -> tuple[float, Vector, NDArray[np.float64]]:
        value, gradient, hessian = objective(theta)
        away = theta - centre
        return value - float(penalty @ away**2) / 2, gradient - penalty * away, hessian + curvature

    return penalised


def rank_one(matrix: NDArray[np.float64], low: float, high: float) -> Vector:
    """Return the a [V] between low and high whose products a_u a_v are closest to a symmetric matrix [V, V].

    The diagonal of the matrix is 0 and is left out of the fit: half a step at a time,

        a_v = sum over u of C_uv a_u / sum over u of a_u^2,  u not v

    >>> a = np.array([0.9, 0.5, 0.4])
    >>> rank_one(np.outer(a, a) * (1 - np.eye(3)), 0.0, 1.0).round(3)
    array([0.9, 0.5, 0.4])
    """
    a = np.sqrt(np.maximum(matrix.sum(axis=1) / max(len(matrix) - 1, 1), 1e-6))
    for _ in range(ROUNDS):
        a = np.clip(0.5 * a + 0.5 * (matrix @ a) / np.maximum((a**2).sum() - a**2, 1e-9), low, high)
    return np.asarray(a, np.float64)
