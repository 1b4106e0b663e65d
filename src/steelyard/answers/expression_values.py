"""Evaluate an expression with numbers substituted for its letters: roots, powers, logarithms, trigonometry.

Expressions are read as math-verify reads them (letters have no case, `log` without a backslash is a product of letters,
an exponent without braces is one number or one letter, `1/2x` is one over 2x), because pairs that evaluate to different
values never reach math-verify. Spellings that math-verify reads in its own way (`2 3`, a root of 12 without braces, a
mixed number) raise `TooHard`, as does anything that is not an expression. Every token costs a step of the answer's
budget (step_budget.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from zlib import crc32

from steelyard.answers import rough_numbers as rough
from steelyard.answers.expressions import DEEPEST, Tokens
from steelyard.answers.polynomials import TooHard
from steelyard.answers.rough_numbers import Rough
from steelyard.answers.step_budget import spend

GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ρ": "rho", "σ": "sigma", "τ": "tau",
    "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
GREEK_COMMANDS = str.maketrans({letter: f"\\{name} " for letter, name in GREEK.items()})
NAMES = {*GREEK.values(), "varepsilon", "vartheta", "varphi"}
CONSTANTS = {"\\pi": math.pi, "e": math.e}
FUNCTIONS: dict[str, Callable[[Rough], Rough]] = {
    "\\sin": rough.sine,
    "\\cos": rough.cosine,
    "\\tan": lambda a: rough.divide(rough.sine(a), rough.cosine(a)),
    "\\cot": lambda a: rough.divide(rough.cosine(a), rough.sine(a)),
    "\\sec": lambda a: rough.divide(Rough(1), rough.cosine(a)),
    "\\csc": lambda a: rough.divide(Rough(1), rough.sine(a)),
    "\\arcsin": rough.arc_sine,
    "\\arctan": rough.arc_tangent,
    "\\ln": rough.log,
}
TEN = Rough(10)
MINUS = Rough(-1)
HALF = Rough(0.5)
_CLOSING = {"(": ")", "{": "}", "[": "]", "|": "|"}
_NOT_LETTERS = ("and", "or", "inf", "pct", "sqrt")  # words that math-verify interprets as something else


class Evaluation:
    """The evaluation of one expression, from left to right, at one point."""

    def __init__(self, text: str, point: int) -> None:
        self.tokens = _single_letters(Tokens(text))
        self.point = point
        self.letters = False  # whether a letter occurred, so that the value depends on the point
        self.in_bars = False

    def value(self) -> Rough:
        value = self._sum(0)
        if self.tokens.at != len(self.tokens.texts):
            raise TooHard
        return value

    def _sum(self, depth: int) -> Rough:
        if depth > DEEPEST:
            raise TooHard
        total = self._product(depth)
        while self.tokens.text in ("+", "-"):
            minus = self.tokens.take() == "-"
            term = self._product(depth)
            total = rough.add(total, rough.multiply(MINUS, term) if minus else term)
        return total

    def _product(self, depth: int) -> Rough:
        total = self._signed(depth)
        while self.tokens.text in ("*", "/"):
            divided = self.tokens.take() == "/"
            factor = self._signed(depth)
            total = rough.divide(total, factor) if divided else rough.multiply(total, factor)
        return total

    def _factor_follows(self) -> bool:
        """Whether a factor follows without an operator; a number directly after a number is too hard."""
        if self.tokens.kind == "number":
            before = self.tokens.at - 1
            if self.tokens.kinds[before] == "number" or (
                self.tokens.texts[before] == "}" and len(self.tokens.text) > 1
            ):
                raise TooHard
            return True
        return self.tokens.kind == "word" or self.tokens.text in ("(", "{", "[") or self._bar_opens()

    def _bar_opens(self) -> bool:
        return self.tokens.text == "|" and not self.in_bars

    def _signed(self, depth: int) -> Rough:
        minus = False
        while self.tokens.text in ("+", "-"):
            minus ^= self.tokens.take() == "-"
        value = self._raised(depth)
        while self._factor_follows():
            value = rough.multiply(value, self._raised(depth))
        return rough.multiply(MINUS, value) if minus else value

    def _raised(self, depth: int) -> Rough:
        value = self._atom(depth)
        while self.tokens.text == "!":
            self.tokens.take()
            value = rough.factorial_of(value)
        if self.tokens.text in ("^", "**"):
            self.tokens.take()
            value = rough.power(value, self._argument(depth))
            if self.tokens.text in ("^", "**", "!", "_"):
                raise TooHard
        return value

    def _atom(self, depth: int) -> Rough:
        spend(20)
        if self.tokens.kind == "number":
            return self._number()
        if self.tokens.kind == "word":
            return self._word(depth)
        if self.tokens.text in ("(", "{", "[") or self._bar_opens():
            return self._group(depth)
        raise TooHard

    def _number(self) -> Rough:
        text = self.tokens.take()
        if "," in text or self._fraction_of_numbers():  # a mixed number
            raise TooHard
        value = Fraction(text)
        if value.denominator == 1 and abs(value) < rough.EXACT:
            return Rough(complex(value.numerator))
        return rough.rough(complex(float(value)), 0.0)

    def _fraction_of_numbers(self) -> bool:
        """Whether a purely numeric fraction may follow: after a number it would make a mixed number."""
        follows = slice(self.tokens.at + 1, self.tokens.at + 7)
        return self.tokens.text == "\\frac" and "word" not in self.tokens.kinds[follows]

    def _group(self, depth: int) -> Rough:
        opening = self.tokens.take()
        before, self.in_bars = self.in_bars, opening == "|"
        value = self._sum(depth + 1)
        self.tokens.take(_CLOSING[opening])
        self.in_bars = before
        return rough.absolute(value) if opening == "|" else value

    def _argument(self, depth: int) -> Rough:
        """The argument of a command: a group, one number, or one letter."""
        if self.tokens.text in ("{", "("):
            return self._group(depth)
        if self.tokens.kind == "number":
            return self._number()
        if self.tokens.kind == "word" and self.tokens.text not in FUNCTIONS:
            return self._word(depth)
        raise TooHard

    def _word(self, depth: int) -> Rough:
        if depth > DEEPEST:
            raise TooHard
        word = self.tokens.take()
        if word in ("\\sqrt", "sqrt"):
            return self._root(depth + 1)
        if word in ("\\frac", "\\binom"):
            top, bottom = self._short(depth + 1), self._short(depth + 1)
            return rough.divide(top, bottom) if word == "\\frac" else rough.binomial(top, bottom)
        if word in FUNCTIONS or word == "\\log":
            return self._function(word, depth + 1)
        if word in CONSTANTS:
            return rough.rough(complex(CONSTANTS[word]), 0.0)
        if len(word) > 1 and word[1:].casefold() not in NAMES:
            raise TooHard
        return self._letter(word.casefold())

    def _short(self, depth: int) -> Rough:
        """An argument of a fraction: a group, a digit or a letter."""
        if self.tokens.text == "{" or len(self.tokens.text) == 1:
            return self._argument(depth)
        raise TooHard

    def _root(self, depth: int) -> Rough:
        degree = self._group(depth) if self.tokens.text == "[" else None
        if self.tokens.kind == "number" and (len(self.tokens.text) > 1 or degree):
            raise TooHard
        inner = self._argument(depth)
        if degree is None:
            return rough.power(inner, HALF) if inner != Rough(0) else inner
        if inner.value.real < 0:
            raise TooHard
        return rough.power(inner, rough.divide(Rough(1), degree))

    def _function(self, word: str, depth: int) -> Rough:
        base = self._base() if word == "\\log" else None
        raised = None
        if self.tokens.text == "^":
            self.tokens.take()
            raised = self._argument(depth)
            if raised.integer is None or raised.integer < 1:  # an inverse function
                raise TooHard
        inner = self._group(depth) if self.tokens.text == "(" else self._bare(depth)
        value = FUNCTIONS[word](inner) if base is None else rough.divide(rough.log(inner), rough.log(base))
        return value if raised is None else rough.power(value, raised)

    def _base(self) -> Rough:
        if self.tokens.text != "_":
            return TEN
        self.tokens.take()
        if self.tokens.kind == "number" and len(self.tokens.text) > 1:
            raise TooHard
        return self._argument(0)

    def _bare(self, depth: int) -> Rough:
        """The argument of a function without brackets: all factors up to the next operator or function."""
        inner = Rough(1)
        first = True
        while self.tokens.text not in ("\\log", *FUNCTIONS) and (first or self._factor_follows()):
            inner = rough.multiply(inner, self._raised(depth))
            first = False
        if first or self.tokens.text in ("*", "/"):
            raise TooHard
        return inner

    def _is_raised_call(self) -> bool:
        """Whether this is a call raised to a power, f(x)^n: the power applies to f(x), not to x."""
        after = self.tokens.texts[self.tokens.at :]
        if after[:1] == ["^"] or after[:1] == ["**"]:
            end = after.index("}") + 1 if after[1:2] == ["{"] and "}" in after else 2
            return after[end : end + 1] + after[end + 2 : end + 3] == ["(", ")"]
        return after[:1] + after[2:4] in (["(", ")", "^"], ["(", ")", "**"])

    def _letter(self, name: str) -> Rough:
        self.letters = True
        if self.tokens.text == "_":
            self.tokens.take()
            if self.tokens.kind not in ("number", "word") or self.tokens.text.startswith("\\"):
                raise TooHard
            name += "_" + self.tokens.take().casefold()
        if self._is_raised_call():
            raise TooHard
        if name == "i":
            return Rough(1j)
        if name == "e":  # a capital E
            return rough.rough(complex(math.e), 0.0)
        spread = crc32(f"{name}/{self.point}".encode()) % 9973
        return rough.rough(complex(1 + spread / 4001), 0.0)


def _single_letters(tokens: Tokens) -> Tokens:
    """Split words without a backslash into letters, which are factors."""
    kinds, texts = [], []
    for kind, text in zip(tokens.kinds, tokens.texts, strict=True):
        plain = kind == "word" and not text.startswith("\\") and text != "sqrt"
        if plain and len(text) > 1:
            if any(word in text.casefold() for word in _NOT_LETTERS):
                raise TooHard
            kinds += ["word"] * len(text)
            texts += list(text)
        else:
            kinds.append(kind)
            texts.append(text)
    if any(_is_differential(texts, kinds, at) for at, text in enumerate(texts) if text in ("d", "D")):
        raise TooHard
    tokens.kinds, tokens.texts = kinds, texts
    return tokens


def _is_differential(texts: list[str], kinds: list[str], at: int) -> bool:
    """Whether dx is more than the product of d and x: raised to a power, a command's argument, or in a fraction."""
    if kinds[at + 1 : at + 2] != ["word"]:
        return False
    before, after = texts[at - 1] if at else "", texts[at + 2] if at + 2 < len(texts) else ""
    return (
        before in ("^", "**", "_")
        or after in ("^", "**", "_", "!")
        or texts[at + 1].startswith("\\")
        or before.startswith("\\")
        or "/" in texts
        or "\\frac" in texts
    )
