"""Gold answers of multiple-choice questions that are option indices: 0 is A, 1 is B, 2 is C, ..

MMLU, ARC and HellaSwag are published like this. All golds of a file decide together: they are indices if every gold is
an integer, the smallest is 0, the largest is at most 9, and the responses choose letters. Numbers that start at 1 are
ambiguous (they may count from 1, or be indices among which 0 never occurs) and are refused, with the fix.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from steelyard.answers.extract import kind_of
from steelyard.foundation.errors import LabelError

FIRST = "A"
_INDEX = re.compile(r"\s*+\d(?:\.0)?\s*+", re.ASCII)  # one digit: options are A to J; a column with nulls holds floats
NEARLY_ALL = 0.95
CHOICE = "choice"


def golds_are_indices(golds: Collection[str], responses: Collection[str]) -> bool:
    """Whether the golds of a file are option indices; `responses` is a sample of its responses or answers.

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
