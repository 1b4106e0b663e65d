"""Exact arithmetic for final answers: polynomials over the rationals in letters and square roots.

A value is a dict from monomials to coefficients; a monomial is a sorted tuple of (atom, power), an atom a
letter, pi, i, or a square-free integer n standing for sqrt(n). Sizes are bounded: larger values raise `TooHard`.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt

from steelyard.answers.step_budget import spend

Monomial = tuple[tuple[str, int], ...]
Poly = dict[Monomial, Fraction]

MAX_TERMS = 64
MAX_BITS = 8192
MAX_POWER = 64
LARGEST_ROOT = 10**8
ZERO, ONE = Fraction(0), Fraction(1)


class TooHard(Exception):  # noqa: N818 - not an error: the answer is left to the equivalence checker
    """The expression is beyond the scope of this arithmetic."""


def number(value: Fraction | int) -> Poly:
    return checked({(): value if isinstance(value, Fraction) else Fraction(value)})


def symbol(name: str) -> Poly:
    return {((name, 1),): ONE}


def checked(p: Poly) -> Poly:
    """Drop zero terms and refuse a polynomial that is too large."""
    terms = {m: c for m, c in p.items() if c}
    if len(terms) > MAX_TERMS or _bits(terms) > MAX_BITS:
        raise TooHard
    return terms


def _bits(p: Poly) -> int:
    """The size of the largest coefficient."""
    return max((c.numerator.bit_length() + c.denominator.bit_length() for c in p.values()), default=1)


def add(a: Poly, b: Poly) -> Poly:
    spend(len(a) + len(b) * (1 + _bits(b) // 64))
    total = dict(a)
    for m, c in b.items():
        total[m] = total[m] + c if m in total else c
    return checked(total)


def negate(a: Poly) -> Poly:
    return {m: -c for m, c in a.items()}


def multiply(a: Poly, b: Poly) -> Poly:
    if len(a) * len(b) > MAX_TERMS * MAX_TERMS:
        raise TooHard
    spend(len(a) * len(b) * (30 + (_bits(a) + _bits(b)) // 64))
    total: Poly = {}
    for ma, ca in a.items():
        for mb, cb in b.items():
            m, factor = _times(ma, mb)
            term = ca * cb if factor == 1 else ca * cb * factor
            total[m] = total[m] + term if m in total else term
    return checked(total)


def divide(a: Poly, b: Poly) -> Poly:
    """Divide by a single term; a sum in the denominator is too hard."""
    if len(b) != 1:
        raise TooHard
    ((m, c),) = b.items()
    inverse: Poly = {(): 1 / c}
    for atom, power in m:
        if atom.isdigit():  # 1 / sqrt(n) = sqrt(n) / n
            inverse = multiply(inverse, {((atom, 1),): Fraction(1, int(atom))})
        elif atom == "i":
            inverse = multiply(inverse, {(("i", 1),): Fraction(-1)})
        else:
            inverse = multiply(inverse, {((atom, -power),): ONE})
    return multiply(a, inverse)


def power(a: Poly, exponent: Poly) -> Poly:
    """Raise to an integer power, or a number to the power one half."""
    e = exponent.get((), ZERO)
    if set(exponent) - {()}:
        raise TooHard
    if e == Fraction(1, 2):
        return root(a)
    n = abs(int(e))
    if e.denominator != 1 or (not a and e <= 0) or _too_large(a, n):
        raise TooHard
    result = number(1)
    if len(a) == 1:
        ((m, c),) = a.items()
        result = number(c**n)
        for atom, k in m:
            result = multiply(result, _atom_power(atom, k * n))
    else:
        for _ in range(n):
            result = multiply(result, a)
    return result if e >= 0 else divide(number(1), result)


def _too_large(a: Poly, n: int) -> bool:
    """Whether a^n would exceed the bounds, decided before computing it."""
    powers = max((abs(k) for m in a for _, k in m), default=0)
    return n > 4096 or (len(a) > 1 and n > 16) or powers * n > MAX_POWER or (_bits(a) - 2) * n > MAX_BITS


def _atom_power(atom: str, k: int) -> Poly:
    if atom.isdigit():
        integer = number(Fraction(int(atom)) ** (k // 2))
        return multiply(integer, {((atom, 1),): ONE}) if k % 2 else integer
    if atom == "i":
        return [number(1), symbol("i"), number(-1), negate(symbol("i"))][k % 4]
    return {((atom, k),): ONE} if k else number(1)


def root(a: Poly) -> Poly:
    """The square root of a rational number, with squares taken out."""
    if not a:
        return {}
    if set(a) != {()}:
        raise TooHard
    value = a[()]
    if value < 0:
        return multiply(symbol("i"), root({(): -value}))
    inside = value.numerator * value.denominator
    exact = isqrt(inside)
    if exact * exact == inside:
        return number(Fraction(exact, value.denominator))
    if inside > LARGEST_ROOT:
        raise TooHard
    outside, free = _square_part(inside)
    return {((str(free), 1),): Fraction(outside, value.denominator)}


def _square_part(n: int) -> tuple[int, int]:
    """Write n as s^2 f with f square-free, and return s and f.

    Divisors are tried up to the cube root of the rest, which is then 1, a prime, a prime squared or two primes.

    >>> _square_part(72), _square_part(9409 * 2), _square_part(9697)
    ((6, 2), (97, 2), (1, 9697))
    """
    square, free, d = 1, 1, 2
    while d * d * d <= n:
        times = 0
        while n % d == 0:
            n //= d
            times += 1
        square *= d ** (times // 2)
        free *= d ** (times % 2)
        d += 1
    spend(d // 8)
    exact = isqrt(n)
    return (square * exact, free) if exact * exact == n else (square, free * n)


def _times(a: Monomial, b: Monomial) -> tuple[Monomial, int]:
    """Multiply monomials; roots and i reduce to a factor."""
    if not a or not b:
        return a or b, 1
    powers: dict[str, int] = {}
    factor = 1
    radicand = 1  # square-free, as the numbers under every root are
    for atom, k in (*a, *b):
        if atom.isdigit():
            shared = gcd(radicand, int(atom))
            factor *= shared
            radicand = radicand // shared * (int(atom) // shared)
        else:
            powers[atom] = powers.get(atom, 0) + k
    if radicand > LARGEST_ROOT:
        raise TooHard
    if radicand > 1:
        powers[str(radicand)] = 1
    turns = powers.pop("i", 0) % 4
    if turns in (2, 3):
        factor = -factor
    if turns % 2:
        powers["i"] = 1
    if any(abs(k) > MAX_POWER for k in powers.values()):
        raise TooHard
    return tuple(sorted((atom, k) for atom, k in powers.items() if k)), factor


def render(p: Poly) -> str:
    """Render a polynomial so that parsing the result gives it back.

    >>> render(add(number(Fraction(1, 2)), multiply(number(2), symbol("x"))))
    '2*x+1/2'
    """
    if not p:
        return "0"
    terms = sorted(p.items(), key=lambda term: ([(-k, atom) for atom, k in term[0]] or [(9999, "")], len(term[0])))
    return "".join(_term(m, c, first=not i) for i, (m, c) in enumerate(terms))


def _term(m: Monomial, c: Fraction, *, first: bool) -> str:
    sign = "-" if c < 0 else "" if first else "+"
    size = abs(c)
    factors = [f"sqrt({atom})" if atom.isdigit() else atom if k == 1 else f"{atom}^({k})" for atom, k in m]
    if size != 1 or not factors:
        factors.insert(0, str(size))
    return sign + "*".join(factors)
