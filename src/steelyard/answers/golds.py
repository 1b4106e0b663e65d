r"""The answers that a gold answer accepts, and gold answers that are option indices.

Gold answers go through extraction too. A gold answer may be the answer itself, a worked solution ("steps .. #### 42",
"so \boxed{42}"), an option with its text ("B) Rome"), or a list of accepted answers: a JSON list of strings, or a
column of lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from steelyard.answers.extract import kind_of
from steelyard.answers.kind import Kind
from steelyard.foundation.errors import LabelError

LIST, ITEM = "\x1e", "\x1f"  # prefix of accepted answers from a column of lists; separator between them
_VALUES = ("code", "json")  # kinds whose answers may be lists themselves
FIRST = "A"
_INDEX = re.compile(r"\s*+\d(?:\.0)?\s*+", re.ASCII)  # one digit: options are A to J; a column with nulls holds floats
NEARLY_ALL = 0.95
CHOICE = "choice"


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
    from steelyard.answers.option_letters import chosen

    letter = chosen(gold)
    _, _, option_text = gold.strip().partition(next((mark for mark in ")." if mark in gold[:4]), "\0"))
    return [letter, option_text.strip()] if letter and option_text.strip(" ).") else [answer]


def golds_are_indices(golds: Collection[str], responses: Collection[str]) -> bool:
    """Whether the golds of a file are option indices (0 is A, 1 is B, ..), as in MMLU, ARC and HellaSwag.

    They are if every gold is an integer, the smallest is 0, the largest is at most 9, and the responses choose letters;
    `responses` is a sample of the responses or answers. Numbers that start at 1 are ambiguous (they may count from 1,
    or be indices among which 0 never occurs) and are refused, with the fix.

    >>> golds_are_indices(["0", "2", "3"], ["The answer is C.", "B"]), golds_are_indices(["0", "2"], ["It is 2.", "0"])
    (True, False)
    >>> golds_are_indices(["A", "0"], ["A"])
    False
    """
    numbers = [_index(gold) for gold in golds if _INDEX.fullmatch(gold)]
    if not numbers or len(numbers) < len(golds) or not _choose_letters(responses):
        return False
    if min(numbers) > 0:
        raise LabelError(
            f"the gold answers are the numbers {min(numbers)} to {max(numbers)} and the responses choose letters, but "
            f"option indices start at 0 and no gold answer is 0; give the gold answers as letters ({FIRST}, B, ..)"
        )
    return True


def letter_of(index: str) -> str:
    """Return the letter of the option with this index.

    >>> letter_of("0"), letter_of("3.0")
    ('A', 'D')
    """
    return chr(ord(FIRST) + _index(index))


def _index(gold: str) -> int:
    return int(gold.strip()[0])


def _choose_letters(responses: Collection[str]) -> bool:
    read = [answer for text in responses if (answer := kind_of(CHOICE).extract(text).answer)]
    letters = sum(len(answer) == 1 and not answer.isdecimal() for answer in read)
    return bool(read) and letters >= NEARLY_ALL * len(read)
