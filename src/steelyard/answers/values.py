"""The normal form of an answer that is a single choice, matrix, set, tuple, interval, equation or expression."""

from __future__ import annotations

import re
from collections.abc import Iterable

from steelyard.answers.cleaning import ROW
from steelyard.answers.expressions import expression
from steelyard.answers.polynomials import Poly, TooHard, divide, number, render
from steelyard.answers.step_budget import memoized, spend

_JOIN = re.compile(r",?+\s++(?:and|or)\s++")
_NAME = re.compile(r"([A-Za-z])(?:_\{?\w{1,3}\}?)?+")
_CHOICE = re.compile(r"\(?([A-J])\)?[.:]?")
MAX_PARTS = 200
DEEPEST = 12  # tuples within tuples
_AND = re.compile(r",?+\s++(?:and|or)\s++|\s*+;\s*+")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})++(?:\.\d++)?")
_MATRIX = re.compile(r"\\begin\{([a-zA-Z]*matrix|array)\}(?:\{[clr|]*\})?(.*)\\end\{\1\}", re.DOTALL)
_OPEN, _CLOSE = "([{", ")]}"


@memoized
def value_form(text: str) -> str | None:
    """Return the normal form of a choice, matrix, list, equation or expression; None for any other text."""
    choice = _CHOICE.fullmatch(text)
    if choice:
        return choice[1]
    for parse in (matrix, union, listed, _plus_minus, _solutions, _equation, scalar):
        try:
            form = parse(text)
        except (TooHard, ZeroDivisionError, ValueError, RecursionError):
            continue
        if form is not None:
            return form
    return None


def _plus_minus(text: str) -> str | None:
    if text.count("\\pm") != 1:
        return None
    both = {scalar(text.replace("\\pm", sign)) for sign in ("+", "-")}
    return (
        "{" + ",".join(sorted(both, key=lambda part: (part.startswith("-"), part))) + "}"
        if len(both) > 1
        else both.pop()
    )


def _solutions(text: str) -> str | None:
    """Several solutions, x = 1 or x = 2: the set of values of one letter, or each of several letters with its value."""
    parts = split(_JOIN.sub(", ", text), ",")
    sides = [split(part, "=") for part in parts]
    if len(parts) < 2 or not all(len(side) == 2 and _NAME.fullmatch(side[0]) for side in sides):
        return None
    values = sorted({(_NAME.sub(r"\1", name), scalar(value)) for name, value in sides})
    names = {name for name, _ in values}
    if len(names) == 1:
        return "{" + ",".join(sorted((value for _, value in values), key=lambda one: (len(one), one))) + "}"
    return ",".join(f"{name}={value}" for name, value in values)


def _equation(text: str) -> str | None:
    """The result of a calculation, or the polynomial of an equation up to a factor."""
    sides = split(text, "=")
    if len(sides) < 2:
        return None
    last = expression(sides[-1])
    if not set(last) - {()} and (len(sides) > 2 or not set(expression(sides[0])) - {()}):
        return render(last)
    if len(sides) > 2:
        raise TooHard
    left = expression(f"({sides[0]})-({sides[1]})")
    if not left:
        raise TooHard
    largest = max(left)
    form = divide(left, number(left[largest]))
    return render(form) + "=0"


def split(text: str, separator: str) -> list[str]:
    """Split at separators outside all brackets."""
    spend(1 + len(text) // 2)
    depth, start, parts = 0, 0, []
    for i, char in enumerate(text):
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif char == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    if len(parts) > MAX_PARTS:
        raise TooHard
    return [part.strip() for part in parts]


def _encloses(text: str) -> bool:
    """Whether the first bracket is closed by the last character."""
    spend(1 + len(text) // 2)
    depth = 0
    for i, char in enumerate(text):
        depth += (char in _OPEN) - (char in _CLOSE)
        if depth == 0:
            return i == len(text) - 1
    return False


def _part(text: str, depth: int = 0) -> str:
    """The normal form of an entry of a tuple, a set or a matrix."""
    if not text or depth > DEEPEST:
        raise TooHard
    if text in ("\\infty", "+\\infty", "-\\infty"):
        return text.lstrip("+")
    form = listed(text, depth + 1)
    return scalar(text) if form is None else form


def matrix(text: str) -> str | None:
    match = _MATRIX.fullmatch(text)
    if not match:
        return None
    rows = [row for row in match[2].split(ROW) if row.strip()]
    cells = [[_part(cell.strip()) for cell in row.split("&")] for row in rows]
    return "\\begin{matrix}" + "\\\\".join("&".join(row) for row in cells) + "\\end{matrix}"


def union(text: str) -> str | None:
    if "\\cup" not in text:
        return None
    return "\\cup".join(sorted(_part(part.strip()) for part in text.split("\\cup")))


def listed(text: str, depth: int = 0) -> str | None:
    """Normalise a list: tuples and intervals keep their order; sets and lists without brackets are sorted."""
    if len(text) > 2 and text[0] in _OPEN and text[-1] in _CLOSE and _encloses(text):
        parts = split(text[1:-1].strip(), ",")
        if text[0] + text[-1] == "{}":
            return "{" + ",".join(_sorted(_part(part, depth) for part in parts)) + "}"
        if len(parts) > 1:
            return text[0] + ",".join(_part(part, depth) for part in parts) + text[-1]
        return None
    spaced = _AND.sub(", ", text)
    if _THOUSANDS.fullmatch(text):
        return None
    parts = split(spaced, ",")
    return "{" + ",".join(_sorted(_part(part, depth) for part in parts)) + "}" if len(parts) > 1 else None


def _sorted(parts: Iterable[str]) -> list[str]:
    return sorted(set(parts), key=lambda part: (len(part), part))


def scalar(text: str) -> str:
    """Return the rendered value; a percent is a hundredth."""
    percent = text.endswith("%")
    value: Poly = expression(text.rstrip("% ") if percent else text)
    return render(divide(value, number(100)) if percent else value)
