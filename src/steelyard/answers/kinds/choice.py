"""choice: the letter of an option, A to J; where a response names no letter, the words it states.

Marked: a boxed letter, the `answer` field, what is said of the answer, what is said to be correct or chosen. Loose: a
last or first line that is an option, a letter in bold or brackets, a letter alone. Words are compared as `text` does.
"""

from __future__ import annotations

import re

from steelyard.answers.boxes import boxed
from steelyard.answers.json_fields import json_field
from steelyard.answers.kind import Kind, Named, short
from steelyard.answers.kinds.text import text_form
from steelyard.answers.letters import chosen
from steelyard.answers.lower_case_letters import with_capitals
from steelyard.answers.picked_letters import picked
from steelyard.answers.sayings import sayings
from steelyard.answers.statements import statement

_BOLD = re.compile(r"\*\*\s*+\(?([A-J])\)?[.:)]?(?:\s[^*\n]{0,200})?\s*+\*\*")
_PAREN = re.compile(r"\(([A-J])\)")
_LINE = re.compile(r"[>*_#\-\s(\[`]{0,8}([A-J])(?:[)\].:](?:[*_`]{0,3})(?:\s.{0,300})?|[*_`)\].]{0,4}\s?)")
_ENDS_IN = re.compile(r"[.!?;:]\s++[(\[*_]{0,4}([A-J])[)\]*_]{0,4}[.!]?$")
_JUDGED = re.compile(r"\b(?:incorrect|wrong|false|not|is|are|would|because|suggests|refers|let)\b", re.IGNORECASE)
_ONE_LETTER = re.compile(r"[A-J]")


def choice_form(answer: str) -> str:
    """The letter of an option, or its words as `text` compares them.

    >>> choice_form("(c)"), choice_form("B) Rome"), choice_form("New  York")
    ('C', 'B', 'new york')
    """
    return chosen(answer) or text_form(answer)


def _boxed(text: str) -> str | None:
    found = boxed(text)
    return None if found is None else chosen(found)


def _field(text: str) -> str | None:
    found = json_field(text)
    return found if not found else chosen(found) or statement(found, clauses=False)


def _said(text: str) -> str | None:
    """The letter in the last statement of an answer that names one."""
    return next((letter for said in sayings(text) if (letter := chosen(said.text))), None)


def _picked(text: str) -> str | None:
    """The letter of the last sentence that chooses an option, in capitals or not."""
    return picked(with_capitals(text))


def _option_line(text: str) -> str | None:
    """A last line, or a first one, that is an option and says nothing of it."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    for line in (lines[-1], lines[0]) if lines else ():
        found = _LINE.fullmatch(line)
        if found and not _JUDGED.search(line) and not (found[1] in "AI" and line[1:2] == " "):
            return found[1]
    return None


def _last_sentence(text: str) -> str | None:
    """A last sentence that is a letter and nothing else: "Not A. Not B. C!"."""
    found = _ENDS_IN.search(text.rstrip()[-40:])
    return found[1] if found else None


def _bold(text: str) -> str | None:
    found = _BOLD.findall(text)
    return found[-1] if found else None


def _parenthesis(text: str) -> str | None:
    found = _PAREN.findall(text)
    return found[-1] if found else None


def _alone(text: str) -> str | None:
    whole = text.strip()
    return chosen(whole) if len(whole) <= 12 else None


def _words(text: str) -> str | None:
    """The words of an answer without a letter: what is said of it, or all of a short response without a letter."""
    for said in sayings(text):
        return statement(said.text, clauses=False)
    whole = text.strip()
    one_line = bool(whole) and "\n" not in whole and len(whole) <= 60 and not whole.endswith((":", ","))
    return statement(whole, clauses=False) if one_line and len(whole.split()) <= MOST_WORDS else None


MOST_WORDS = 3  # of a response that is the text of an option and nothing else
MARKED: tuple[Named, ...] = (("boxed", _boxed), ("json", _field), ("said", _said), ("picked", _picked))
LOOSE: tuple[Named, ...] = (
    ("line", _option_line), ("sentence", _last_sentence), ("bold", _bold), ("parenthesis", _parenthesis),
    ("alone", _alone), ("words", _words),
)  # fmt: skip


def _whole(text: str) -> str | None:
    found = short(text)
    return found and (chosen(found) or found)


KIND = Kind("choice", MARKED, LOOSE, _whole, choice_form, listed=True)
