"""Strip what surrounds a value: a box, `x =`, words, units, degree signs, the base of a number."""

from __future__ import annotations

import re

from steelyard.answers.values import value_form

_PREFIX = re.compile(
    r"(?:[A-Za-z](?:_\{?\w{1,8}\}?)?|[A-Za-z]\([A-Za-z]\)|\\theta|\\alpha)\s*+(?:=|\\in(?![A-Za-z])|:)\s*+(?=\S)"
)
_DEGREES = re.compile(r"\^?\s*+\{?\s*+\\circ\s*+\}?|\s*+degrees?$", re.IGNORECASE)
_UNIT = re.compile(
    r"(?<=[\d)}%])(?:\s++[A-Za-z]{2,}+|\s*+[A-Za-z]{4,}+)(?:\s++[A-Za-z]++)*+(?:\s*+\^\s*+\{?[23]\}?)?\.?$"
)
_NO_UNIT = re.compile(
    r"\b(?:or|and|to|than|less|more|not|no|if|am|pm|mod|times|plus|minus"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)\b|^\s*(?:or|and)(?:less|more|fewer)",
    re.IGNORECASE,
)
_TEXT = re.compile(r"\\text\s*+\{([^{}]*+)\}(?:\s*+\^\s*+\{?[23]\}?)?")
_SUBSCRIPT = re.compile(r"(-?\d++)\s*+_\s*+\{?\s*+\w{1,2}\s*+\}?")  # the base of a number, which the question names
_JOIN = re.compile(r"\\text\s?\{\s*+(and|or)\s*+\}")


def unwrapped(text: str) -> str:
    """Strip boxes, `x =`, text around numbers, units and degree signs."""
    if text.startswith("\\boxed{") and text.endswith("}"):
        text = text[7:-1].strip()
    if "\\text" in text:
        text = _JOIN.sub(r" \1 ", text)
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
    if unit and not _NO_UNIT.search(unit[0]) and value_form(text[: unit.start()].strip()) is not None:
        return text[: unit.start()].strip()
    return text
