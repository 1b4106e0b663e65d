"""choice: the letter of an option, A to J; if a response names no letter, the words it states.

Marked: a boxed letter, the `answer` field, "the answer is ..", an option called correct or chosen. Loose: a last or
first line that is an option, a letter in bold or brackets, a single letter. Words are compared as `text` does.
"""

from __future__ import annotations

import re

from steelyard.answers.boxes_and_fields import boxed, json_field
from steelyard.answers.kind import Kind, NamedRule, final_match, short
from steelyard.answers.kinds.text import text_form
from steelyard.answers.option_letters import chosen, picked, with_capitals
from steelyard.answers.statements import mentions, statement

_BOLD = re.compile(r"\*\*\s*+\(?([A-J])\)?[.:)]?(?:\s[^*\n]{0,200})?\s*+\*\*")
_PAREN = re.compile(r"\(([A-J])\)")
_LINE = re.compile(r"[>*_#\-\s(\[`]{0,8}([A-J])(?:[)\].:](?:[*_`]{0,3})(?:\s.{0,300})?|[*_`)\].]{0,4}\s?)")
_ENDS_IN = re.compile(r"[.!?;:]\s++[(\[*_]{0,4}([A-J])[)\]*_]{0,4}[.!]?$")
_JUDGED = re.compile(r"\b(?:incorrect|wrong|false|not|is|are|would|because|suggests|refers|let)\b", re.IGNORECASE)


def choice_form(answer: str) -> str:
    """Return the letter of an option, or its words in the form of `text`.

    >>> choice_form("(c)"), choice_form("B) Rome"), choice_form("New  York")
    ('C', 'B', 'new york')
    """
    return chosen(answer) or text_form(answer)


def _boxed(text: str) -> str | None:
    content = boxed(text)
    return None if content is None else chosen(content)


def _field(text: str) -> str | None:
    value = json_field(text)
    return value if not value else chosen(value) or statement(value, clauses=False)


def _stated(text: str) -> str | None:
    """The letter in the last mention of the answer that names one."""
    return next((letter for mention in mentions(text) if (letter := chosen(mention.text))), None)


def _option_line(text: str) -> str | None:
    """A last or first line that is an option without a comment on it."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    for line in (lines[-1], lines[0]) if lines else ():
        match = _LINE.fullmatch(line)
        if match and not _JUDGED.search(line) and not (match[1] in "AI" and line[1:2] == " "):
            return match[1]
    return None


def _last_sentence(text: str) -> str | None:
    """A last sentence that is only a letter: "Not A. Not B. C!"."""
    match = _ENDS_IN.search(text.rstrip()[-40:])
    return match[1] if match else None


def _last_letter(pattern: re.Pattern[str], text: str) -> str | None:
    match = final_match(pattern, text)
    return match[1] if match else None


def _alone(text: str) -> str | None:
    stripped = text.strip()
    return chosen(stripped) if len(stripped) <= 12 else None


def _words(text: str) -> str | None:
    """The words of an answer without a letter: the last mention of the answer, or a short response as a whole."""
    for mention in mentions(text):
        return statement(mention.text, clauses=False)
    stripped = text.strip()
    one_line = bool(stripped) and "\n" not in stripped and len(stripped) <= 60 and not stripped.endswith((":", ","))
    return statement(stripped, clauses=False) if one_line and len(stripped.split()) <= MAX_WORDS else None


MAX_WORDS = 3  # in a response that consists of the text of an option
MARKED: tuple[NamedRule, ...] = (
    ("boxed", _boxed), ("json", _field), ("said", _stated), ("picked", lambda text: picked(with_capitals(text))),
)  # fmt: skip
LOOSE: tuple[NamedRule, ...] = (
    ("line", _option_line), ("sentence", _last_sentence), ("bold", lambda text: _last_letter(_BOLD, text)),
    ("parenthesis", lambda text: _last_letter(_PAREN, text)), ("alone", _alone), ("words", _words),
)  # fmt: skip


def _whole(text: str) -> str | None:
    answer = short(text)
    return answer and (chosen(answer) or answer)


KIND = Kind("choice", MARKED, LOOSE, _whole, choice_form, listed=True)
