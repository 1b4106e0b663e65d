r"""The answers that a gold answer accepts; gold answers go through extraction too.

A gold answer may be the answer itself, a worked solution ("steps .. #### 42", "so \boxed{42}"), an option with its text
("B) Rome"), or a list of accepted answers: a JSON list of strings, or a column of lists.
"""

from __future__ import annotations

import json

from steelyard.answers.kind import Kind
from steelyard.answers.letters import chosen

LIST, ITEM = "\x1e", "\x1f"  # prefix of accepted answers from a column of lists; separator between them
_VALUES = ("code", "json")  # kinds whose answers may be lists themselves


def accepted(gold: str, kind: Kind) -> list[str]:
    r"""Return the answers that a gold answer accepts.

    >>> from steelyard.answers.extract import kind_of
    >>> accepted("6 * 7 = 42\n#### 42", kind_of("math")), accepted('["NYC", "New York"]', kind_of("text"))
    (['42'], ['NYC', 'New York'])
    >>> accepted("B) Rome", kind_of("choice"))
    ['B', 'Rome']
    """
    if gold.startswith(LIST):
        items = gold[1:].split(ITEM) if gold != LIST else []
        return [answer for item in items if item.strip() or kind.blank for answer in _one(item, kind)]
    texts = None if kind.name in _VALUES else _texts(gold, kind)
    return [answer for item in texts or [gold] for answer in _one(item, kind)]


def _texts(gold: str, kind: Kind) -> list[str] | None:
    """The items of a JSON list of strings; a list of numbers is an answer itself."""
    if not gold.lstrip().startswith("["):
        return None
    try:
        items = json.loads(gold)
    except (ValueError, RecursionError):
        return None
    return items if items and all(isinstance(item, str) and (item.strip() or kind.blank) for item in items) else None


def _one(gold: str, kind: Kind) -> list[str]:
    answer = kind.accepted(gold)
    if kind.name != "choice":
        return [answer]
    letter = chosen(gold)
    _, _, option_text = gold.strip().partition(next((mark for mark in ")." if mark in gold[:4]), "\0"))
    return [letter, option_text.strip()] if letter and option_text.strip(" ).") else [answer]
