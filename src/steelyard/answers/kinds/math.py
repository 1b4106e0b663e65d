r"""math: an expression, number, tuple, set, interval, matrix or a few words.

Marked: the last \boxed{..} or the `answer` field of a JSON reply, whichever is later; "final answer is .."; "#### ..";
"Answer: .."; "the answer is ..". Loose: the maths, the interval, the solutions or the value
after "=" at the end; the last number.
"""

from __future__ import annotations

import re

from steelyard.answers.boxes_and_fields import boxed, json_field, last_box, last_field
from steelyard.answers.kind import Kind, NamedRule, final_match, short
from steelyard.answers.normal import normal_form
from steelyard.answers.numbers import last_number
from steelyard.answers.ranges_and_intervals import solution_at_end
from steelyard.answers.statements import mentions, stated_maths

END = 600  # characters at the end that are searched for loose maths
_HASHES = re.compile(r"####[ \t]*+([^\n]{1,400})")
_SPAN = re.compile(
    r"\$\$([^$]{1,300})\$\$|\$((?:[^$\n\\]|\\.){1,300})\$|\\\(([^\n]{1,300}?)\\\)|\\\[(.{1,300}?)\\\]", re.DOTALL
)
_VALUE = re.compile(r"\d|\\(?:[dt]?frac|sqrt|pi|infty|emptyset|text|pm)(?![A-Za-z])")
_NAMED = re.compile(r"\\(?:begin|end|text|mathrm|textbf|operatorname)\s?\{[^{}]*+\}")
_NOT_MATHS = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{4,}+|[.?!]\s")


def field_after_box(text: str) -> str | None:
    """The answer field of a JSON reply, if no box follows it."""
    at, value = last_field(text)
    return value if at >= 0 and at > last_box(text)[0] else None


def hashes(text: str) -> str | None:
    """The text after the last ####, as in GSM8K."""
    match = final_match(_HASHES, text) if "####" in text else None
    return stated_maths(match[1].strip().strip("*# ")) if match else None


def maths_at_end(text: str) -> str | None:
    """The maths at the end of the response: "so the area is $\\frac{1}{2}$ of it."."""
    end = text[-END:].rstrip()
    match = final_match(_SPAN, end)
    if match is None or any(char.isdigit() for char in end[match.end() :]) or "\n" in end[match.end() :].strip():
        return None
    inside = next(part for part in match.groups() if part is not None)
    value = inside.rpartition("=")[2].strip().strip(".,;")
    return value if _VALUE.search(value) and not _NOT_MATHS.search(_NAMED.sub("", value)) else None


def after_equals(text: str) -> str | None:
    """The value after the last "=" of the last line."""
    lines = text[-END:].rstrip().splitlines()
    if not lines or "=" not in lines[-1]:
        return None
    value = lines[-1].rpartition("=")[2].strip().strip("$*`\\)]. ")
    if not value or len(value) > 60 or _NOT_MATHS.search(value) or not _VALUE.search(value):
        return None
    return None if value[-1] in "+-*/^(,_" else value  # cut off


def _stated(text: str, cue: str) -> str | None:
    """The maths of the last mention with this cue; a long sentence without maths does not count."""
    for mention in mentions(text):
        maths = stated_maths(mention.text) if mention.cue == cue else None
        if maths is not None and (len(maths.split()) < 6 or _VALUE.search(maths)):
            return maths
    return None


MARKED: tuple[NamedRule, ...] = (
    ("json", field_after_box), ("boxed", boxed), ("json", json_field),
    ("final", lambda text: _stated(text, "final")), ("hashes", hashes),
    ("label", lambda text: _stated(text, "label")), ("said", lambda text: _stated(text, "said")),
)  # fmt: skip
LOOSE: tuple[NamedRule, ...] = (
    ("maths", maths_at_end), ("solution", solution_at_end), ("equals", after_equals), ("number", last_number),
)  # fmt: skip
KIND = Kind("math", MARKED, LOOSE, short, normal_form, maths=True)
