"""Expressions in two spellings that are equal by construction: what one of them is, the other is too."""

from __future__ import annotations

import random

LETTERS = ["x", "y", "n", "k", "\\alpha ", "x_1", "\\pi ", "e"]
FUNCTIONS = ["sin", "cos", "tan", "cot", "ln", "arctan"]

Spellings = tuple[str, str]  # of one expression


def equal_spellings(rng: random.Random, depth: int = 3) -> Spellings:
    """A random expression, spelled in two ways."""
    how = rng.randrange(9) if depth else 0
    if how == 0:
        one = rng.choice(LETTERS) if rng.random() < 0.7 else str(rng.randrange(1, 13))
        return one, one
    (a, a2), (b, b2) = equal_spellings(rng, depth - 1), equal_spellings(rng, depth - 1)
    n, name = rng.randrange(2, 5), rng.choice(FUNCTIONS)
    return [
        (f"{a}+{b}", f"({b2})+({a2})"),
        (f"{a}-({b})", f"-({b2})+{a2}"),
        (f"({a})({b})", f"({b2})\\cdot ({a2})"),
        (f"\\frac{{{a}}}{{{b}}}", f"({a2})*({b2})^{{-1}}"),
        (f"\\sqrt{{{a}}}", f"({a2})^{{\\frac{{1}}{{2}}}}"),
        (f"({a})^{{{n}}}", "*".join([f"({a2})"] * n)),
        (f"|{a}|", f"|-({a2})|"),
        (f"\\{name}({a})", f"\\{name}(2({a2})-({a2}))"),
    ][how - 1]


def equal_lists(rng: random.Random) -> Spellings:
    """A tuple, an interval, a set, or a single expression, in two spellings."""
    (a, a2), (b, b2) = equal_spellings(rng, 2), equal_spellings(rng, 2)
    return rng.choice(
        [(f"({a},{b})", f"({a2},{b2})"), (f"[{a},{b})", f"[{a2},{b2})"), (f"\\{{{a},{b}\\}}", f"{b2},{a2}"), (a, a2)]
    )
