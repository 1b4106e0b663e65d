"""The normal form of an answer: two answers with one normal form are the same answer.

Own code, in process, within a budget of steps that grows with the length of the text (budget.py), nothing evaluated
that could grow: numbers, fractions, powers and roots are exact rationals and polynomials of bounded size; tuples, sets,
intervals and matrices are normalised entry by entry; words are folded. What cannot be read is its own cleaned text,
and what runs out of its budget is a class of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from math import pi, prod

from steelyard.answers.cleaning import LONGEST, ROW, plain
from steelyard.answers.expressions import expression
from steelyard.answers.polynomials import Poly, TooHard, divide, number, render
from steelyard.answers.step_budget import OutOfBudget, budget_for, spend

MOST_PARTS = 200
DEEPEST = 12  # tuples within tuples
PASSES = 6
VERBATIM = "text:"  # before an answer that no number of passes settles
COSTLY = "costly:"  # before an answer that cost more steps than its length allows
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,15}")
_CHOICE = re.compile(r"\(?([A-J])\)?[.:]?")
_PREFIX = re.compile(
    r"(?:[A-Za-z](?:_\{?\w{1,8}\}?)?|[A-Za-z]\([A-Za-z]\)|\\theta|\\alpha)\s*+(?:=|\\in(?![A-Za-z])|:)\s*+(?=\S)"
)
_DEGREES = re.compile(r"\^?\s*+\{?\s*+\\circ\s*+\}?|\s*+degrees?$", re.IGNORECASE)
_UNIT = re.compile(
    r"(?<=[\d)}%])(?:\s++[A-Za-z]{2,}+|\s*+[A-Za-z]{4,}+)(?:\s++[A-Za-z]++)*+(?:\s*+\^\s*+\{?[23]\}?)?\.?$"
)
_NO_UNIT = re.compile(
    r"\b(?:or|and|to|than|less|more|not|no|if|am|pm|mod|times|plus|minus)\b|^\s*(?:or|and)(?:less|more|fewer)",
    re.IGNORECASE,
)
_TEXT = re.compile(r"\\text\s*+\{([^{}]*+)\}(?:\s*+\^\s*+\{?[23]\}?)?")
_BASE = re.compile(r"([_^])\s*+\{\s*+(\w++)\s*+\}")
_SUBSCRIPT = re.compile(r"(-?\d++)\s*+_\s*+\{?\s*+\w{1,2}\s*+\}?")  # the base of a number, which its question names
_GAP = re.compile(r"(?<![A-Za-z0-9]) | (?![A-Za-z0-9])")  # white space that parts no words
_AND = re.compile(r"\s++(?:and|or)\s++|\s*+;\s*+")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})++(?:\.\d++)?")
_MATRIX = re.compile(r"\\begin\{([a-zA-Z]*matrix|array)\}(?:\{[clr|]*\})?(.*)\\end\{\1\}", re.DOTALL)
_OPEN, _CLOSE = "([{", ")]}"


def normal_form(answer: str) -> str:
    """Return the normal form; the empty string if nothing can be read.

    >>> [normal_form(text) for text in ("0.5", r"\\frac12", "1/2", r"$\\dfrac{1}{2}$.", "50%", "x = 1/2")]
    ['1/2', '1/2', '1/2', '1/2', '1/2', '1/2']
    >>> normal_form("(3, 4]"), normal_form(r"\\{2, 1\\}"), normal_form(r"\\text{East}")
    ('(3,4]', '{1,2}', 'east')
    """
    if len(answer) > LONGEST or answer.startswith((VERBATIM, COSTLY)):
        return answer.strip()
    text = answer
    try:
        with budget_for(answer):
            for _ in range(PASSES):  # what one pass uncovers the next may read
                if _WHOLE.fullmatch(text):
                    return text
                again = _pass(text)
                if again == text:
                    return text
                text = again
    except OutOfBudget:
        return COSTLY + answer.strip()
    return VERBATIM + answer.strip()


def too_costly(form: str) -> bool:
    """Whether a normal form is that of an answer which ran out of its budget."""
    return form.startswith(COSTLY)


def _pass(text: str) -> str:
    spend(1 + len(text) // 4)
    unwrapped = _unwrapped(plain(text))
    return _read(unwrapped) or _words(unwrapped)


@lru_cache(maxsize=50_000)
def was_read(form: str) -> bool:
    """Whether a normal form was understood as a value, not kept as text."""
    if _WHOLE.fullmatch(form):
        return True
    try:
        with budget_for(form):
            return len(form) <= LONGEST and _read(form) == form
    except OutOfBudget:
        return False


def number_of(form: str) -> float | str:
    """The number a form that was read stands for, "symbolic" if it has letters or is a list."""
    try:
        with budget_for(form):
            value = expression(form)
        return sum(float(c) * prod(_size(atom) ** k for atom, k in m) for m, c in value.items()) if value else 0.0
    except (OutOfBudget, TooHard, ValueError, OverflowError):
        return "symbolic"


def _size(atom: str) -> float:
    if atom.isdigit():
        return float(int(atom) ** 0.5)
    if atom == "pi":
        return pi
    raise TooHard


def _read(text: str) -> str | None:
    """The value of a text as a choice, a matrix, a list, an equation or an expression; None if it is none."""
    choice = _CHOICE.fullmatch(text)
    if choice:
        return choice[1]
    for form in (_matrix, _union, _listed, _plus_minus, _equation, _value):
        try:
            found = form(text)
        except (TooHard, ZeroDivisionError, ValueError, RecursionError):
            continue
        if found is not None:
            return found
    return None


def _unwrapped(text: str) -> str:
    """Take off boxes, `x =`, text around numbers, units and degree signs."""
    if text.startswith("\\boxed{") and text.endswith("}"):
        text = text[7:-1].strip()
    if "\\text" in text:
        bare = _TEXT.sub(" ", text).strip()
        text = bare if any(c.isdigit() for c in bare) else _TEXT.sub(r"\1", text).strip()
    prefix = _PREFIX.match(text)
    if prefix and "=" not in text[prefix.end() :]:
        text = text[prefix.end() :]
    if "circ" in text or "egree" in text:
        text = _DEGREES.sub("", text).strip()
    base = _SUBSCRIPT.fullmatch(text)
    text = (base[1] if base else text).strip("£€¥ ")
    unit = _UNIT.search(text)
    if unit and not _NO_UNIT.search(unit[0]) and _read(text[: unit.start()].strip()) is not None:
        return text[: unit.start()].strip()
    return text


def _split(text: str, separator: str) -> list[str]:
    """Cut at separators outside all brackets."""
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
    if len(parts) > MOST_PARTS:
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
    form = _listed(text, depth + 1)
    return _value(text) if form is None else form


def _matrix(text: str) -> str | None:
    found = _MATRIX.fullmatch(text)
    if not found:
        return None
    rows = [row for row in found[2].split(ROW) if row.strip()]
    cells = [[_part(cell.strip()) for cell in row.split("&")] for row in rows]
    return "\\begin{matrix}" + "\\\\".join("&".join(row) for row in cells) + "\\end{matrix}"


def _union(text: str) -> str | None:
    if "\\cup" not in text:
        return None
    return "\\cup".join(sorted(_part(part.strip()) for part in text.split("\\cup")))


def _listed(text: str, depth: int = 0) -> str | None:
    """Tuples and intervals keep their order; sets and bare lists are sorted."""
    if len(text) > 2 and text[0] in _OPEN and text[-1] in _CLOSE and _encloses(text):
        parts = _split(text[1:-1].strip(), ",")
        if text[0] + text[-1] == "{}":
            return "{" + ",".join(_sorted(_part(part, depth) for part in parts)) + "}"
        if len(parts) > 1:
            return text[0] + ",".join(_part(part, depth) for part in parts) + text[-1]
        return None
    spaced = _AND.sub(", ", text)
    if _THOUSANDS.fullmatch(text):
        return None
    parts = _split(spaced, ",")
    return "{" + ",".join(_sorted(_part(part, depth) for part in parts)) + "}" if len(parts) > 1 else None


def _sorted(parts: Iterable[str]) -> list[str]:
    return sorted(set(parts), key=lambda part: (len(part), part))


def _plus_minus(text: str) -> str | None:
    if text.count("\\pm") != 1:
        return None
    both = {_value(text.replace("\\pm", sign)) for sign in ("+", "-")}
    return (
        "{" + ",".join(sorted(both, key=lambda part: (part.startswith("-"), part))) + "}"
        if len(both) > 1
        else both.pop()
    )


def _equation(text: str) -> str | None:
    """A calculation is worth what it ends in; an equation is its polynomial, up to a factor."""
    sides = _split(text, "=")
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


def _value(text: str) -> str:
    percent = text.endswith("%")
    value: Poly = expression(text.rstrip("% ") if percent else text)
    return render(divide(value, number(100)) if percent else value)


def _words(text: str) -> str:
    """Plain words in one case, anything else with white space and needless braces gone."""
    letters = sum(char.isalpha() or char in " '-.," for char in text)
    if "\\" not in text and letters == len(text):
        return " ".join(text.casefold().split())
    return _GAP.sub("", " ".join(_BASE.sub(r"\1\2", text.replace(ROW, "\\\\")).split()))
