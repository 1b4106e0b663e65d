"""Which pairs of a question's answers only the equivalence checker can decide: most votes first, the others counted.

Two forms whose numbers or fingerprints differ are two answers, and nobody is asked (fingerprints.py). A form that has
no fingerprint is evaluated by the equivalence checker; one that it cannot read either is a class of its own. Of one
question MOST_FORMS forms are looked at and MOST_PAIRS pairs decided: a question with more open answers than
that keeps the others apart, and they are counted, never passed over in silence.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import combinations
from typing import NamedTuple

from steelyard.answers.equivalence import SYMBOLIC, UNKNOWN, EquivalenceChecker, Pair, Reply
from steelyard.answers.fingerprints import differ, fingerprint, moves
from steelyard.answers.normal import number_of, was_read
from steelyard.answers.statement_kinds import Statement, letters_of

MOST_PAIRS = 200
MOST_FORMS = 100
NEAR = 1e-9  # relative: numbers closer than this may be one


class OpenPairs(NamedTuple):
    """The pairs to ask about; how many are left out; the forms that stay apart from one they may equal."""

    asked: list[Pair]
    unasked: int
    apart: set[str]


def to_value(votes: Mapping[str, int], symbolic: Sequence[str]) -> list[str]:
    """The forms of a question that the equivalence checker has to evaluate: those without a fingerprint."""
    return [form for form in _most_voted(votes, symbolic) if fingerprint(form) is None]


def open_pairs(votes: Mapping[str, int], symbolic: Sequence[str], checker: EquivalenceChecker) -> OpenPairs:
    """Find the open pairs among the forms of a question; only the equivalence checker can read the `symbolic` ones."""
    asked_for = _most_voted(votes, symbolic)
    values = _values(asked_for, checker)
    apart = {form for form, value in values.items() if value == UNKNOWN} | (set(symbolic) - set(asked_for))
    known = {form: value for form, value in values.items() if value != UNKNOWN}
    read = {form: number_of(form) for form in votes if was_read(form)}
    with_letters = [form for form, value in read.items() if not isinstance(value, float)]
    compared = _most_voted(votes, with_letters)
    pairs = list(_candidates(known, read, compared))
    asked = nsmallest(MOST_PAIRS, pairs, key=lambda pair: (-votes[pair[0]] - votes[pair[1]], pair))
    left = set(pairs) - set(asked)
    apart |= {form for pair in left for form in pair if form in known}
    lettered = sum(not isinstance(value, float) for value in known.values())
    unasked = len(left) + lettered * (len(with_letters) - len(compared))
    never = len(set(symbolic) & apart - known.keys())
    return OpenPairs(asked, unasked + never * (len(known) + len(read)) + never * (never - 1) // 2, apart)


def _most_voted(votes: Mapping[str, int], forms: Sequence[str]) -> list[str]:
    return nsmallest(MOST_FORMS, forms, key=lambda form: (-votes[form], form))


def _values(forms: Sequence[str], checker: EquivalenceChecker) -> dict[str, Reply]:
    """What every form that can be read is worth, by its fingerprint or else by the equivalence checker."""
    marks = {form: fingerprint(form) for form in forms}
    values: dict[str, Reply] = {
        form: SYMBOLIC if mark.number is None else mark.number
        for form, mark in marks.items()
        if mark is not None and mark.says is not Statement.NOTHING
    }
    rest = [form for form in forms if marks[form] is None]
    values.update((form, value) for form, value in zip(rest, checker.values(rest), strict=True) if value is not None)
    return values


def _candidates(known: Mapping[str, object], read: Mapping[str, object], compared: Sequence[str]) -> Iterator[Pair]:
    """The pairs that may be equal: two of `known`, or one of them and a form that was read."""
    numbers = sorted((value, form) for form, value in read.items() if isinstance(value, float))
    places = [value for value, _ in numbers]
    for a, b in combinations(sorted(known), 2):
        if _may_be_equal(known[a], known[b]) and not _told_apart(a, b):
            yield a, b
    for form, value in known.items():
        if isinstance(value, float):
            reach = NEAR * max(1.0, abs(value))
            near = numbers[bisect_left(places, value - 2 * reach) : bisect_right(places, value + 2 * reach)]
            others = [other for place, other in near if _may_be_equal(value, place)]
        else:
            others = [other for other in compared if not _told_apart(form, other)]
        yield from ((min(form, other), max(form, other)) for other in others)


def _told_apart(a: str, b: str) -> bool:
    """Whether two forms surely differ: at a point, or because one depends on letters of which the other has none."""
    one, two = fingerprint(a), fingerprint(b)
    return differ(one, two) or ((moves(one) or moves(two)) and not letters_of(a) & letters_of(b))


def _may_be_equal(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= NEAR * max(1.0, abs(a), abs(b))
    return type(a) is type(b)
