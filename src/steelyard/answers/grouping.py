"""Which answers are the same: by normal form first, then, for what is left and looks symbolic, by the judge.

Same is an equivalence relation: the classes are the connected components of "same normal form" and "the judge says
so", found by asking for every pair that could matter, so they do not depend on the order of the responses.
A pair the judge could not decide in time is *unknown*: the two stay apart and are reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from steelyard.answers.judge import UNKNOWN, Judge, Pair
from steelyard.answers.normal import normal_form, number_of, was_read

MOST_PAIRS = 200  # asked of the judge for one question; beyond that answers stay apart
LONGEST_SYMBOLIC = 200
_BY_ZERO = re.compile(r"-?\d+/0")
_SENTENCE = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{4,}")
_MATHS = re.compile(r"\\[A-Za-z]|[-+*/^=()\d]")


@dataclass
class Groups:
    """The class of every answer by number in order of appearance, and the pairs nobody could decide."""

    classes: list[int]
    forms: list[str]
    unknown: list[Pair] = field(default_factory=list)


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
    return sorted(form for form in set(forms) if not was_read(form) and looks_symbolic(form))


def open_pairs(forms: Sequence[str], judge: Judge) -> tuple[list[Pair], list[Pair]]:
    """The pairs only a judge can tell apart, and those left unknown because a form could not be valued in time.

    A form the judge cannot read is a class of its own. Two forms whose numbers differ are two answers.
    """
    symbolic = symbolic_forms(forms)
    found = dict(zip(symbolic, judge.values(symbolic), strict=True))
    values: dict[str, object] = {form: value for form, value in found.items() if value is not None}
    values |= {form: number_of(form) for form in set(forms) if was_read(form)}
    asked, unknown = [], []
    for a, b in combinations(sorted(values), 2):
        if a not in found and b not in found:
            continue
        if UNKNOWN in (values[a], values[b]):
            unknown.append((a, b))
        elif _may_be_equal(values[a], values[b]):
            asked.append((a, b))
    return (asked, unknown) if len(asked) <= MOST_PAIRS else ([], unknown)


def _may_be_equal(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))
    return type(a) is type(b)


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


def group(answers: Sequence[str], judge: Judge | None = None) -> Groups:
    """Group the answers of one question."""
    forms = [normal_form(answer) for answer in answers]
    same: list[Pair] = []
    unknown: list[Pair] = []
    if judge and symbolic_forms(forms):
        pairs, unknown = open_pairs(forms, judge)
        verdicts = list(zip(pairs, judge.decide(pairs), strict=True))
        same = [pair for pair, verdict in verdicts if verdict]
        unknown += [pair for pair, verdict in verdicts if verdict is None]
    least = representatives(forms, same)
    numbers: dict[str, int] = {}
    classes = [numbers.setdefault(least[form], len(numbers)) for form in forms]
    return Groups(classes, [least[form] for form in forms], unknown)


def group_answers(answers: Sequence[str]) -> list[int]:
    """Return the class number of every answer; the same number means the same answer.

    >>> group_answers(["1/2", "0.5", "x+1", r"\\\\frac{1}{2}", "1+x"])
    [0, 0, 1, 0, 1]
    """
    if not symbolic_forms(normal_form(answer) for answer in answers):
        return group(answers).classes
    with Judge() as judge:
        return group(answers, judge).classes


def same_answer(a: str, b: str) -> bool:
    """Return whether two answers are the same; what cannot be decided in time is not.

    >>> same_answer("1/2", "50%"), same_answer("12", "twelve")
    (True, False)
    """
    return len(set(group_answers([a, b]))) == 1
