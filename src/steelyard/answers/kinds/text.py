"""text: words; case, articles and punctuation are ignored, so "The Beatles." is "beatles".

Signs that tell answers apart stay: 3.5 is not 35, -5 is not 5, C++ is not C.
"""

from __future__ import annotations

import re
import unicodedata

from steelyard.answers.boxes_and_fields import boxed, json_field
from steelyard.answers.kind import Kind, NamedRule, last_line, short
from steelyard.answers.statements import mentions, statement

LONGEST = 20_000  # characters; a longer answer keeps its case and punctuation
_ARTICLES = frozenset(("a", "an", "the"))
_MEANINGFUL = frozenset("#%&@*")  # punctuation that carries meaning
_BETWEEN_DIGITS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))|(?<=\d)([.:/])(?=\d)|(?<![\w)])-(?=\d)")
_LATEX = re.compile(r"\\(?:text|textbf|mathrm|textit|mathbf)\s?\{([^{}]*+)\}")
_BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*")
_MARKS = {".": "\x00", ":": "\x01", "/": "\x02", "-": "\x03"}  # signs between digits, which are preserved
_BACK = {mark: sign for sign, mark in _MARKS.items()}


def text_form(answer: str) -> str:
    """Return an answer without case, articles and punctuation.

    >>> text_form("The Beatles."), text_form("rock-and-roll"), text_form("$1,000"), text_form("3.5")
    ('beatles', 'rock and roll', '$1000', '3.5')
    """
    if len(answer) > LONGEST:
        return answer.strip()
    folded = unicodedata.normalize("NFKC", answer).translate(dict.fromkeys(range(4))).casefold()
    if "\\" in folded:
        folded = _LATEX.sub(r"\1", folded)
    marked = _BETWEEN_DIGITS.sub(lambda match: _MARKS.get(match[0], ""), folded.replace("−", "-"))
    words = "".join(_letter(char) for char in marked).split()
    return " ".join(word for word in words if word not in _ARTICLES) or " ".join(words) or folded.strip()


def _letter(char: str) -> str:
    if char in _BACK:
        return _BACK[char]
    if char.isalnum() or char in _MEANINGFUL:
        return char
    kind = unicodedata.category(char)
    if kind in ("Pd", "Pc") or char in "/\\":
        return " "
    return "" if kind[0] == "P" or char in "`´" else char


def _stated(text: str, cue: str) -> str | None:
    mention = next((mention for mention in mentions(text) if mention.cue == cue), None)
    return None if mention is None else statement(mention.text, clauses=False)


def _bold(text: str) -> str | None:
    """The words in bold, if a short response has exactly one such passage."""
    passages = _BOLD.findall(text)
    return passages[0].strip(" .:") if len(passages) == 1 and len(text.strip()) <= SHORT_REPLY else None


def _boxed(text: str) -> str | None:
    content = boxed(text)
    return None if content is None else _LATEX.sub(r"\1", content)


SHORT_REPLY = 300
MARKED: tuple[NamedRule, ...] = (
    ("json", json_field), ("boxed", _boxed), ("final", lambda text: _stated(text, "final")),
    ("label", lambda text: _stated(text, "label")), ("said", lambda text: _stated(text, "said")),
)  # fmt: skip
KIND = Kind("text", MARKED, (("bold", _bold), ("text", last_line)), short, text_form)
