"""auto: which kind of answers a table holds, told by its gold answers, else by its responses.

Only what is beyond doubt is another kind than math: nearly all gold answers must look like it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl

from steelyard.answers.extract import kind_of
from steelyard.answers.golds import ITEM, LIST
from steelyard.answers.literals import NO_VALUE, value_of

LOOKED_AT = 500  # rows
NEARLY_ALL = 0.95
_LETTER = re.compile(r"\(?[A-J]\)?[.:]?|\(?[A-J][).:]\s\S.{0,300}", re.DOTALL)
_WORDS = re.compile(r"[^\W\d_][^\\^=+{}<>]{2,200}", re.DOTALL)
_MATHS = re.compile(r"\\[A-Za-z]|\d\s?[-+*/^=]\s?\d|####")


def chosen_kind(table: pl.DataFrame) -> tuple[str, str]:
    """The kind of the answers in the first rows of a table, and the reason in a few words.

    >>> chosen_kind(pl.DataFrame({"gold": ["B", "(C)"], "response": ["It is B.", "C"]}))
    ('choice', 'the gold answers are letters')
    >>> chosen_kind(pl.DataFrame({"gold": ["12"], "response": ["It is 12."]}))
    ('math', 'the gold answers are numbers, maths or of several kinds')
    """
    if "gold" in table.columns:
        golds = [_first(text) for text in table["gold"].drop_nulls().unique(maintain_order=True)]
        if golds:
            return next(
                ((kind, f"the gold answers are {what}") for kind, what, looks in _LOOKS if _nearly_all(golds, looks)),
                ("math", "the gold answers are numbers, maths or of several kinds"),
            )
    name = "answer" if "answer" in table.columns else "response" if "response" in table.columns else None
    texts = table[name].drop_nulls().to_list() if name else []
    choice = kind_of("choice")
    if texts and _nearly_all(texts, lambda text: len(choice.extract(text).answer or "") == 1 and "\\frac" not in text):
        return "choice", "the responses choose letters"
    return "math", "no gold answers tell another kind"


def _first(gold: str) -> str:
    return (gold[1:].split(ITEM, maxsplit=1)[0] if gold.startswith(LIST) else gold).strip()


def _nearly_all(texts: list[str], looks: Callable[[str], bool]) -> bool:
    return sum(map(looks, texts)) >= NEARLY_ALL * len(texts)


def _is_object(text: str) -> bool:
    return text.startswith(("{", "[{")) and kind_of("json").form(text)[:1] in ("{", "[")


def _is_literal(text: str) -> bool:
    """A quoted text, a list with one, a dictionary, True, False or None; numbers and lists of them may be maths."""
    value = value_of(text)
    maths = not isinstance(value, bool) and isinstance(value, int | float | tuple | list)
    return value is not NO_VALUE and (not maths or "'" in text or '"' in text)


def _is_words(text: str) -> bool:
    return bool(_WORDS.fullmatch(text)) and not _MATHS.search(text)


_LOOKS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("choice", "letters", lambda text: bool(_LETTER.fullmatch(text))),
    ("json", "JSON objects", _is_object),
    ("code", "values of Python", _is_literal),
    ("text", "words", _is_words),
)
