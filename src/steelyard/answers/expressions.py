"""Parse one expression, in LaTeX, plain text or a mixture, into an exact polynomial.

Every token is read once, from left to right, to a bounded depth, and costs a step of the answer's budget
(step_budget.py).
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import factorial

from steelyard.answers.polynomials import Poly, TooHard, add, divide, multiply, negate, number, power, root, symbol
from steelyard.answers.step_budget import spend

DEEPEST = 40
MAX_TOKENS = 400
LARGEST_FACTORIAL = 200

_TOKEN = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"|(?P<word>\\?[A-Za-z]+)|(?P<space>\s+)|(?P<sign>\*\*|.)",
    re.DOTALL,
)
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_FUNCTIONS = "fghpqFGHPQC"  # before a bracket these are function calls, not factors


class Tokens:
    """The tokens of an expression, read from left to right.

    A fraction that was parsed in the search for a mixed number, and is not part of one, becomes one token.
    """

    def __init__(self, text: str) -> None:
        self.kinds: list[str] = []
        self.texts: list[str] = []
        for match in _TOKEN.finditer(text):
            kind = str(match.lastgroup)
            if kind == "space":
                continue
            self.kinds.append(kind)
            self.texts.append(match[0])
            if len(self.kinds) > MAX_TOKENS:
                raise TooHard
        spend(1 + len(text) // 8)
        self.at = 0
        self.fractions: dict[int, Poly] = {}  # parsed fractions by token index
        self.mixed = "number" in self.kinds or any(text in "+-*/^=" for text in self.texts)

    @property
    def text(self) -> str:
        return self.texts[self.at] if self.at < len(self.texts) else ""

    @property
    def kind(self) -> str:
        return self.kinds[self.at] if self.at < len(self.kinds) else ""

    def take(self, expected: str | None = None) -> str:
        if self.at >= len(self.texts) or expected not in (None, self.text):
            raise TooHard
        spend()
        self.at += 1
        return self.texts[self.at - 1]

    def put_back(self, fraction: Poly) -> None:
        """Replace the tokens of a parsed fraction by the fraction."""
        self.at -= 1
        self.kinds[self.at], self.texts[self.at] = "word", "\\frac"
        self.fractions[self.at] = fraction


def expression(text: str) -> Poly:
    r"""Parse a complete expression, or raise TooHard.

    >>> from steelyard.answers.polynomials import render
    >>> render(expression(r"1\frac{4}{5}")), render(expression("(a+5)(b+2)")), render(expression("6/sqrt(12)"))
    ('9/5', '2*a+a*b+5*b+10', 'sqrt(3)')
    """
    tokens = Tokens(text)
    value = _sum(tokens, 0)
    if tokens.at != len(tokens.texts):
        raise TooHard
    return value


def _sum(tokens: Tokens, depth: int) -> Poly:
    if depth > DEEPEST:
        raise TooHard
    value = _product(tokens, depth)
    while tokens.text in ("+", "-"):
        sign = tokens.take()
        term = _product(tokens, depth)
        value = add(value, term if sign == "+" else negate(term))
    return value


def _product(tokens: Tokens, depth: int) -> Poly:
    value = _signed(tokens, depth)
    while True:
        if tokens.text in ("*", "/"):
            sign = tokens.take()
            factor = _signed(tokens, depth)
            value = multiply(value, factor) if sign == "*" else divide(value, factor)
        elif tokens.kind == "word" or tokens.text in ("(", "{"):
            value = multiply(value, _raised(tokens, depth))
        else:
            return value


def _signed(tokens: Tokens, depth: int) -> Poly:
    sign = 1
    while tokens.text in ("+", "-"):
        sign = -sign if tokens.take() == "-" else sign
    value = _raised(tokens, depth)
    return value if sign > 0 else negate(value)


def _raised(tokens: Tokens, depth: int) -> Poly:
    value = _atom(tokens, depth)
    while tokens.text in ("^", "**", "!"):
        value = _factorial(value) if tokens.take() == "!" else power(value, _exponent(tokens, depth + 1))
    return value


def _exponent(tokens: Tokens, depth: int) -> Poly:
    if depth > DEEPEST:
        raise TooHard
    if tokens.text == "-":
        tokens.take()
        return negate(_exponent(tokens, depth + 1))
    base = _atom(tokens, depth)
    return power(base, _exponent(tokens, depth + 1)) if tokens.text in ("^", "**") and tokens.take() else base


def _factorial(value: Poly) -> Poly:
    n = value.get((), Fraction(0))
    if set(value) - {()} or n.denominator != 1 or not 0 <= n <= LARGEST_FACTORIAL:
        raise TooHard
    return number(factorial(int(n)))


def _atom(tokens: Tokens, depth: int) -> Poly:
    if tokens.kind == "number":
        return _number(tokens, depth)
    if tokens.kind == "word":
        return _word(tokens, depth)
    if tokens.text in ("(", "{", "["):
        return _group(tokens, depth)
    raise TooHard


def _number(tokens: Tokens, depth: int) -> Poly:
    """A number; an integer before a proper fraction makes a mixed number."""
    text = tokens.take().replace(",", "")
    value = number(int(text) if text.isdigit() else Fraction(text))
    if tokens.kind == "number" and text.isdigit():  # 1 4/5
        part = Fraction(tokens.take().replace(",", ""))
        tokens.take("/")
        denominator = Fraction(tokens.take().replace(",", "")) if tokens.kind == "number" else Fraction(0)
        if not 0 < part < denominator:
            raise TooHard
        return number(Fraction(text) + part / denominator)
    if tokens.text == "\\frac" and text.isdigit():
        tokens.take()
        top, bottom = _argument(tokens, depth), _argument(tokens, depth)
        if set(top) == set(bottom) == {()} and 0 < top[()] < bottom[()]:
            return add(value, divide(top, bottom))
        tokens.put_back(divide(top, bottom))
    return value


def _word(tokens: Tokens, depth: int) -> Poly:
    word = tokens.take()
    name = word.lstrip("\\")
    if tokens.at - 1 in tokens.fractions:
        return tokens.fractions.pop(tokens.at - 1)
    if name == "frac":
        top = _argument(tokens, depth)
        return divide(top, _argument(tokens, depth))
    if name == "sqrt":
        degree = _group(tokens, depth) if tokens.text == "[" else None
        inner = _argument(tokens, depth, all_digits=True)
        return root(inner) if degree in (None, number(2)) else _higher_root(inner, degree)
    if name == "pi":
        return symbol("pi")
    if len(word) == 2 and word.isalpha() and tokens.mixed:  # ab in 2a + ab
        return multiply(symbol(word[0]), symbol(word[1]))
    if word.startswith("\\") or len(name) > 1:
        raise TooHard
    if tokens.text == "_" or (tokens.text == "(" and name in _FUNCTIONS):
        raise TooHard
    return symbol(name)


def _higher_root(inner: Poly, degree: Poly | None) -> Poly:
    """A root of higher degree whose value is an integer."""
    value, n = inner.get((), Fraction(0)), (degree or {}).get((), Fraction(0))
    if set(inner) - {()} or n.denominator != 1 or not 2 < n < 20 or value.denominator != 1 or not 0 < value < 10**15:
        raise TooHard
    guess = round(int(value) ** (1 / int(n)))
    if guess ** int(n) != value:
        raise TooHard
    return number(guess)


def _argument(tokens: Tokens, depth: int, *, all_digits: bool = False) -> Poly:
    """The argument of a command: a group, or the next digit or letter (\\\\frac43), or all digits of a number."""
    if tokens.kind == "number" and not all_digits and len(tokens.text) > 1 and tokens.text.isdigit():
        digits = tokens.text
        tokens.texts[tokens.at] = digits[1:]
        return number(int(digits[0]))
    if tokens.text == "-":
        tokens.take()
        return negate(_argument(tokens, depth + 1, all_digits=all_digits)) if depth < DEEPEST else number(0)
    return _atom(tokens, depth + 1)


def _group(tokens: Tokens, depth: int) -> Poly:
    close = _CLOSING[tokens.take()]
    value = _sum(tokens, depth + 1)
    tokens.take(close)
    return value
