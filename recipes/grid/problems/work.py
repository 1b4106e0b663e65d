"""A word problem and the notebook its solution is written into, step by step, rightly or with one typical mistake."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

Number = int | Fraction
Sum = tuple[Number, str, Number]
Slip = Sum | tuple[Number, str, Number, Number] | Number | None

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class Step:
    """One line of a solution: a sentence around an equation, and the bare equation."""

    verbose: str
    terse: str


@dataclass(frozen=True)
class Problem:
    """A question with its worked solution; `template` and `numbers` together say which problem it really is."""

    domain: str
    template: str
    level: int
    text: str
    steps: tuple[Step, ...]
    answer: str
    numbers: tuple[Number | str, ...]
    seed: str = field(default="", compare=False)

    @property
    def signature(self) -> tuple[object, ...]:
        """What two problems share that differ in names, things and asides only."""
        return (self.domain, self.template, self.numbers)


class Asked(NamedTuple):
    """What a template returns: the question, the value its work ended with, and the numbers that make it this one."""

    text: str
    answer: Number | str
    numbers: tuple[Number | str, ...]


class Work:
    """Writes down one step a call and returns its value.

    A step's text holds `{}` where the equation goes. Its `slip` is the typical mistake: another sum `(a, op, b)`, one
    with a wrong result `(a, op, b, value)`, or a plain value, which leaves the step out. `Work(slip=k)` makes the
    mistake at the k-th step that has one, and carries on with what came out.

    >>> work = Work(slip=0)
    >>> work.mul(4, 6, "The 4 bags hold {} apples.", slip=(4, "+", 6))
    10
    >>> work.steps[0].verbose
    'The 4 bags hold 4 + 6 = 10 apples.'
    """

    def __init__(self, slip: int | None = None) -> None:
        self.slip = slip
        self.chances = 0
        self.steps: list[Step] = []
        self.decimals = True

    def add(self, a: Number, b: Number, text: str, slip: Slip = None) -> Number:
        """Write a + b."""
        return self._write((a, "+", b), text, slip)

    def sub(self, a: Number, b: Number, text: str, slip: Slip = None) -> Number:
        """Write a - b."""
        return self._write((a, "-", b), text, slip)

    def mul(self, a: Number, b: Number, text: str, slip: Slip = None) -> Number:
        """Write a * b."""
        return self._write((a, "*", b), text, slip)

    def div(self, a: Number, b: Number, text: str, slip: Slip = None) -> Number:
        """Write a / b, exactly."""
        return self._write((a, "/", b), text, slip)

    def percent(self, base: Number, rate: Number, text: str, slip: Slip = None) -> Number:
        """Write rate % of base as base * rate / 100."""
        return self._write((base, "%", rate), text, slip)

    def weekday(self, start: str, days: Number, text: str) -> str:
        """Count days on from a weekday."""
        end = DAYS[(DAYS.index(start) + int(days)) % 7]
        equation = f"{start} + {self.show(days)} = {end}"
        self.steps.append(Step(text.replace("{}", equation), equation))
        return end

    def show(self, value: Number | str) -> str:
        """Print a value: a whole number, a decimal of at most two digits, or a fraction a/b."""
        if isinstance(value, str):
            return value
        exact = Fraction(value)
        if exact.denominator == 1 or not self.decimals or 100 % exact.denominator:
            return str(exact)
        sign, cents = "-" if exact < 0 else "", abs(int(exact * 100))
        return f"{sign}{cents // 100}.{cents % 100:02d}".rstrip("0")

    def _write(self, sum_: Sum, text: str, slip: Slip) -> Number:
        """Record the equation, or the slip in its place."""
        made = slip is not None and self.chances == self.slip
        self.chances += slip is not None
        if made and not isinstance(slip, tuple):
            return slip or 0
        chosen = slip if made and isinstance(slip, tuple) else sum_
        a, op, b = chosen[:3]
        value = chosen[3] if len(chosen) == 4 else _value(a, op, b)
        equation = f"{self._said(a, op, b)} = {self.show(value)}"
        self.steps.append(Step(text.replace("{}", equation), equation))
        return value

    def _said(self, a: Number, op: str, b: Number) -> str:
        left, right = self.show(a), self.show(b)
        if op == "%":
            return f"{left} * {right} / 100"
        return f"{left} {op} ({right})" if "/" in right and op == "/" else f"{left} {op} {right}"


def _value(a: Number, op: str, b: Number) -> Number:
    if op == "+":
        return _plain(Fraction(a + b))
    if op == "-":
        return _plain(Fraction(a - b))
    if op == "*":
        return _plain(Fraction(a * b))
    return _plain(Fraction(a) * b / 100 if op == "%" else Fraction(a) / b)


def _plain(value: Fraction) -> Number:
    return value.numerator if value.denominator == 1 else value
