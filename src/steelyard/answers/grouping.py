"""Which answers are the same: by normal form first, then, where maths is left, by the equivalence checker.

Same is an equivalence relation: the classes are the connected components of "same normal form" and "the equivalence
checker says so", found by asking for the pairs that could matter, so they do not depend on the order of the responses.
A pair the equivalence checker could not decide in time, or was not asked about because a question has too many, is
*undecided*: the two stay apart and are counted. Which pairs are asked: pairs.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from steelyard.answers.decimal_commas import settled_commas
from steelyard.answers.equivalence import EquivalenceChecker, Pair
from steelyard.answers.normal import normal_form, was_read
from steelyard.answers.per_cents import settled
from steelyard.foundation.surrogates import whole

LONGEST_SYMBOLIC = 200
_BY_ZERO = re.compile(r"-?\d+/0")
_SENTENCE = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{4,}")
_MATHS = re.compile(r"\\[A-Za-z]|[-+*/^=()\d]")


@dataclass
class Groups:
    """The class of every answer by number in order of appearance, and how many pairs nobody decided."""

    classes: list[int]
    forms: list[str]
    undecided: int = 0


def looks_symbolic(form: str) -> bool:
    """Whether a form that was not read might be maths rather than words; 8/0 is no value to compare."""
    return (
        not _BY_ZERO.fullmatch(form)
        and len(form) <= LONGEST_SYMBOLIC
        and bool(_MATHS.search(form))
        and not _SENTENCE.search(form)
    )


def symbolic_forms(forms: Iterable[str]) -> list[str]:
    """The distinct forms that were not read and might be maths."""
    return sorted(form for form in set(forms) if looks_symbolic(form) and not was_read(form))


def representatives(forms: Sequence[str], same: Sequence[Pair]) -> dict[str, str]:
    """Map every form to the least form of its class."""
    parent = {form: form for form in forms}

    def top(form: str) -> str:
        while parent[form] != form:
            parent[form] = parent[parent[form]]
            form = parent[form]
        return form

    for a, b in same:
        one, two = top(a), top(b)
        parent[max(one, two)] = min(one, two)
    return {form: top(form) for form in parent}


def group(answers: Sequence[str], checker: EquivalenceChecker | None = None) -> Groups:
    """Group the answers of one question."""
    from steelyard.answers.pairs import open_pairs

    forms = _forms(answers)
    same: list[Pair] = []
    undecided = 0
    if checker and symbolic_forms(forms):
        found = open_pairs(Counter(forms), symbolic_forms(forms), checker)
        verdicts = checker.decide(found.asked)
        same = [pair for pair, verdict in zip(found.asked, verdicts, strict=True) if verdict]
        undecided = found.unasked + verdicts.count(None)
    least = representatives(forms, same)
    numbers: dict[str, int] = {}
    classes = [numbers.setdefault(least[form], len(numbers)) for form in forms]
    return Groups(classes, [least[form] for form in forms], undecided)


def _forms(answers: Sequence[str]) -> list[str]:
    """The normal forms of the answers of one question; what a per cent and what a decimal comma is, the others say."""
    texts = pl.Series([whole(answer) for answer in answers], dtype=pl.String)
    forms = pl.Series([normal_form(text) for text in texts], dtype=pl.String)
    question = np.zeros(len(texts), np.int64)
    return settled_commas(texts, settled(texts, forms, question, len(texts)), question, len(texts)).to_list()


def group_answers(answers: Sequence[str]) -> list[int]:
    """Return the class number of every answer; the same number means the same answer.

    >>> group_answers(["1/2", "0.5", "x+1", r"\\\\frac{1}{2}", "1+x"])
    [0, 0, 1, 0, 1]
    >>> group_answers(["50%", "0.5"]), group_answers(["50%", "50", "0.5"])  # a bare 50 says what 50% is
    ([0, 0], [0, 0, 1])
    """
    if not symbolic_forms(_forms(answers)):
        return group(answers).classes
    with EquivalenceChecker() as checker:
        return group(answers, checker).classes


def same_answer(a: str, b: str) -> bool:
    """Return whether two answers are the same; what cannot be decided in time is not.

    >>> same_answer("1/2", "50%"), same_answer("50", "50%"), same_answer("12", "twelve")
    (True, True, False)
    """
    with EquivalenceChecker() as checker:
        return same(a, b, checker)


def same(a: str, b: str, checker: EquivalenceChecker) -> bool:
    """Return whether two answers are the same, by a checker that many pairs share: its workers start once."""
    return len(set(group([a, b], checker).classes)) == 1
