"""Find the pairs of a question's answers that only the equivalence checker can decide, those with most votes first.

Two forms whose numbers or fingerprints differ are different answers without a check (fingerprints.py). A form without
a fingerprint is evaluated by the equivalence checker; a form that it cannot parse either is its own class. At most
MAX_FORMS forms are considered and MAX_PAIRS pairs decided per question. Any further pairs count as different answers,
and their number is reported.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import combinations
from typing import NamedTuple

from steelyard.answers.equivalence import SYMBOLIC, UNKNOWN, EquivalenceChecker, Pair, Reply
from steelyard.answers.fingerprints import Statement, depends_on_letters, differ, fingerprint, letters_of
from steelyard.answers.normal import number_of, was_read

MAX_PAIRS = 200
MAX_FORMS = 100
NEAR = 1e-9  # relative: numbers closer than this may be equal


class OpenPairs(NamedTuple):
    """The pairs to check, the number of skipped pairs, and the forms that may equal another one but stay separate."""

    pairs: list[Pair]
    skipped: int
    undecided: set[str]


def forms_to_evaluate(votes: Mapping[str, int], symbolic: Sequence[str]) -> list[str]:
    """Return the forms of a question without a fingerprint, which the equivalence checker has to evaluate."""
    return [form for form in _most_voted(votes, symbolic) if fingerprint(form) is None]


def open_pairs(votes: Mapping[str, int], symbolic: Sequence[str], checker: EquivalenceChecker) -> OpenPairs:
    """Find the open pairs among the forms of a question; only the equivalence checker can parse the `symbolic` ones."""
    considered = _most_voted(votes, symbolic)
    values = _values(considered, checker)
    undecided = {form for form, value in values.items() if value == UNKNOWN} | (set(symbolic) - set(considered))
    evaluated = {form: value for form, value in values.items() if value != UNKNOWN}
    parsed = {form: number_of(form) for form in votes if was_read(form)}
    with_letters = [form for form, value in parsed.items() if not isinstance(value, float)]
    compared = _most_voted(votes, with_letters)
    pairs = list(_candidates(evaluated, parsed, compared))
    checked = nsmallest(MAX_PAIRS, pairs, key=lambda pair: (-votes[pair[0]] - votes[pair[1]], pair))
    left = set(pairs) - set(checked)
    undecided |= {form for pair in left for form in pair if form in evaluated}
    lettered = sum(not isinstance(value, float) for value in evaluated.values())
    skipped = len(left) + lettered * (len(with_letters) - len(compared))
    unevaluated = len(set(symbolic) & undecided - evaluated.keys())
    return OpenPairs(
        checked,
        skipped + unevaluated * (len(evaluated) + len(parsed)) + unevaluated * (unevaluated - 1) // 2,
        undecided,
    )


def _most_voted(votes: Mapping[str, int], forms: Sequence[str]) -> list[str]:
    return nsmallest(MAX_FORMS, forms, key=lambda form: (-votes[form], form))


def _values(forms: Sequence[str], checker: EquivalenceChecker) -> dict[str, Reply]:
    """The value of every form that can be parsed, from its fingerprint or else from the equivalence checker."""
    marks = {form: fingerprint(form) for form in forms}
    values: dict[str, Reply] = {
        form: SYMBOLIC if mark.number is None else mark.number
        for form, mark in marks.items()
        if mark is not None and mark.says is not Statement.NOTHING
    }
    rest = [form for form in forms if marks[form] is None]
    values.update((form, value) for form, value in zip(rest, checker.values(rest), strict=True) if value is not None)
    return values


def _candidates(
    evaluated: Mapping[str, object], parsed: Mapping[str, object], compared: Sequence[str]
) -> Iterator[Pair]:
    """The pairs that may be equal: two `evaluated` forms, or one of them and a `parsed` form."""
    numbers = sorted((value, form) for form, value in parsed.items() if isinstance(value, float))
    values = [value for value, _ in numbers]
    for a, b in combinations(sorted(evaluated), 2):
        if _may_be_equal(evaluated[a], evaluated[b]) and not _surely_differ(a, b):
            yield a, b
    for form, value in evaluated.items():
        if isinstance(value, float):
            reach = NEAR * max(1.0, abs(value))
            near = numbers[bisect_left(values, value - 2 * reach) : bisect_right(values, value + 2 * reach)]
            others = [other for near_value, other in near if _may_be_equal(value, near_value)]
        else:
            others = [other for other in compared if not _surely_differ(form, other)]
        yield from ((min(form, other), max(form, other)) for other in others)


def _surely_differ(a: str, b: str) -> bool:
    """Whether two forms certainly differ: at a point, or because one depends on letters that the other lacks."""
    one, two = fingerprint(a), fingerprint(b)
    return differ(one, two) or (
        (depends_on_letters(one) or depends_on_letters(two)) and not letters_of(a) & letters_of(b)
    )


def _may_be_equal(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= NEAR * max(1.0, abs(a), abs(b))
    return type(a) is type(b)
