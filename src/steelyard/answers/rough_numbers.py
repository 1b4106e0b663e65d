"""Complex numbers with an error bound: two numbers further apart than the sum of their bounds are different.

Bounds are generous (one rounding counts as 1e-14), so the last bit of a machine never decides. A value on a branch cut,
a denominator that may be zero, and a loss of precision by cancellation raise `TooHard`.
"""

from __future__ import annotations

import cmath
from math import comb, cosh, factorial, sqrt
from typing import NamedTuple

from steelyard.answers.polynomials import TooHard

ROUNDING = 1e-14
EXACT = 2.0**53  # integers below this are exact
LARGEST = 1e200
LARGEST_ANGLE = 1e6
LARGEST_FACTORIAL = 170
MAX_LOST = 1e-3  # largest relative error of a power


class Rough(NamedTuple):
    """A value and a bound on its absolute error."""

    value: complex
    error: float = 0.0

    @property
    def integer(self) -> int | None:
        """The value as an int if it is an exact integer, else None."""
        exact = self.error == 0 and self.value.imag == 0 and float(self.value.real).is_integer()
        return int(self.value.real) if exact else None


def rough(value: complex, error: float) -> Rough:
    """Check a result and make an imaginary zero positive, because its sign would choose the branch of a root."""
    if not abs(value) < LARGEST or not error < LARGEST:
        raise TooHard
    return Rough(complex(value.real, value.imag + 0.0), error + ROUNDING * abs(value))


def add(a: Rough, b: Rough) -> Rough:
    value = a.value + b.value
    if a.integer is not None and b.integer is not None and abs(value) < EXACT:
        return Rough(value)
    return rough(value, a.error + b.error)


def multiply(a: Rough, b: Rough) -> Rough:
    value = a.value * b.value
    if a.integer is not None and b.integer is not None and abs(value) < EXACT:
        return Rough(complex(value.real, 0.0))
    return rough(value, abs(a.value) * b.error + abs(b.value) * a.error + a.error * b.error)


def divide(a: Rough, b: Rough) -> Rough:
    _not_zero(b)
    value = a.value / b.value
    return rough(value, 2 * (a.error + abs(value) * b.error) / abs(b.value))


def power(base: Rough, exponent: Rough) -> Rough:
    """Raise to a power; returns the principal value."""
    n = exponent.integer
    if n is not None and n > 0 and base.value == 0 and base.error == 0:
        return base
    _not_zero(base)
    if n is None:
        _off_the_cut(base)
    logarithm = cmath.log(base.value)
    turned = exponent.value * logarithm
    lost = 2 * (abs(exponent.value) * base.error / abs(base.value) + abs(logarithm) * exponent.error)
    lost += ROUNDING * (1 + abs(turned))
    if lost > MAX_LOST or abs(turned) > 450:
        raise TooHard
    value = cmath.exp(turned)
    if n is not None and base.value.imag == 0:
        value = complex(value.real, 0.0)
        if base.integer is not None and n > 0 and abs(value) < EXACT:
            return Rough(complex(int(base.value.real) ** n, 0.0))
    return rough(value, abs(value) * lost)


def log(a: Rough) -> Rough:
    _not_zero(a)
    _off_the_cut(a)
    return rough(cmath.log(a.value), 2 * a.error / abs(a.value) + ROUNDING)


def absolute(a: Rough) -> Rough:
    return rough(complex(abs(a.value), 0.0), a.error)


def sine(a: Rough) -> Rough:
    return rough(cmath.sin(a.value), _angle_error(a))


def cosine(a: Rough) -> Rough:
    return rough(cmath.cos(a.value), _angle_error(a))


def arc_sine(a: Rough) -> Rough:
    size = abs(a.value)
    if a.value.imag != 0 or size > 1 - 1e-6 - a.error:
        raise TooHard
    return rough(cmath.asin(a.value), 2 * a.error / sqrt(1 - size * size) + ROUNDING)


def arc_tangent(a: Rough) -> Rough:
    if a.value.imag != 0:
        raise TooHard
    return rough(cmath.atan(a.value), a.error + ROUNDING)


def factorial_of(a: Rough) -> Rough:
    n = a.integer
    if n is None or not 0 <= n <= LARGEST_FACTORIAL:
        raise TooHard
    return _from_int(factorial(n))


def binomial(a: Rough, b: Rough) -> Rough:
    n, k = a.integer, b.integer
    if n is None or k is None or not 0 <= k <= n <= LARGEST_FACTORIAL:
        raise TooHard
    return _from_int(comb(n, k))


def _from_int(n: int) -> Rough:
    return Rough(complex(n)) if n < EXACT else rough(complex(n), 0.0)


def _angle_error(a: Rough) -> float:
    if abs(a.value) > LARGEST_ANGLE or abs(a.value.imag) > 100:
        raise TooHard
    return 2 * cosh(a.value.imag) * (a.error + ROUNDING * (1 + abs(a.value)))


def _not_zero(a: Rough) -> None:
    if abs(a.value) <= 1000 * a.error:
        raise TooHard


def _off_the_cut(a: Rough) -> None:
    """Refuse a value that may lie on either side of the negative real axis."""
    if a.value.real < 0 and a.value.imag != 0 and abs(a.value.imag) <= 2 * a.error:
        raise TooHard
