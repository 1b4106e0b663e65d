"""text: words; case, articles and punctuation are ignored, so "The Beatles." is "beatles".

Signs that tell answers apart stay: 3.5 is not 35, -5 is not 5, C++ is not C.
"""

from __future__ import annotations

import re
import unicodedata

from steelyard.answers.boxes import boxed
from steelyard.answers.json_fields import json_field
from steelyard.answers.kind import Kind, Named, last_line, short
from steelyard.answers.sayings import last_said
from steelyard.answers.statements import statement

LONGEST = 20_000  # characters of an answer that are compared without case and punctuation
_ARTICLES = frozenset(("a", "an", "the"))
_KEPT = frozenset("#%&@*")  # punctuation that carries meaning
_BETWEEN_DIGITS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))|(?<=\d)([.:/])(?=\d)|(?<![\w)])-(?=\d)")
_LATEX = re.compile(r"\\(?:text|textbf|mathrm|textit|mathbf)\s?\{([^{}]*+)\}")
_BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*")
_MARKS = {".": "\x00", ":": "\x01", "/": "\x02", "-": "\x03"}  # signs between digits, kept
_BACK = {mark: sign for sign, mark in _MARKS.items()}


def text_form(answer: str) -> str:
    """An answer without case, articles and punctuation.

    >>> text_form("The Beatles."), text_form("rock-and-roll"), text_form("$1,000"), text_form("3.5")
    ('beatles', 'rock and roll', '$1000', '3.5')
    """
    if len(answer) > LONGEST:
        return answer.strip()
    folded = unicodedata.normalize("NFKC", answer).translate(dict.fromkeys(range(4))).casefold()
    if "\\" in folded:
        folded = _LATEX.sub(r"\1", folded)
    kept = _BETWEEN_DIGITS.sub(lambda found: _MARKS.get(found[0], ""), folded.replace("−", "-"))
    words = "".join(_letter(char) for char in kept).split()
    return " ".join(word for word in words if word not in _ARTICLES) or " ".join(words) or folded.strip()


def _letter(char: str) -> str:
    if char in _BACK:
        return _BACK[char]
    if char.isalnum() or char in _KEPT:
        return char
    kind = unicodedata.category(char)
    if kind in ("Pd", "Pc") or char in "/\\":
        return " "
    return "" if kind[0] == "P" or char in "`´" else char


def _stated(text: str, *hows: str) -> str | None:
    found = last_said(text, *hows)
    return None if found is None else statement(found, clauses=False)


def _bold(text: str) -> str | None:
    """The only words in bold of a short response."""
    found = _BOLD.findall(text)
    return found[0].strip(" .:") if len(found) == 1 and len(text.strip()) <= SHORT_REPLY else None


def _boxed(text: str) -> str | None:
    found = boxed(text)
    return None if found is None else _LATEX.sub(r"\1", found)


SHORT_REPLY = 300
MARKED: tuple[Named, ...] = (
    ("json", json_field), ("boxed", _boxed), ("final", lambda text: _stated(text, "final")),
    ("label", lambda text: _stated(text, "label")), ("said", lambda text: _stated(text, "said")),
)  # fmt: skip
KIND = Kind("text", MARKED, (("bold", _bold), ("text", last_line)), short, text_form)
