"""Group equal answers: by normal form first, then, for maths that this leaves open, by the equivalence checker.

The classes are the connected components of "same normal form" and "equal according to the equivalence checker", over
all pairs that could matter, so they do not depend on the order of the responses. A pair that the equivalence checker
could not decide in time, or that was skipped because a question has too many, is *undecided*: the two count as
different answers, and the pair is counted. pairs.py chooses the pairs to check.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from steelyard.answers.ambiguous_numbers import settle_decimal_commas, settle_percentages
from steelyard.answers.equivalence import EquivalenceChecker, Pair
from steelyard.answers.kind import Kind
from steelyard.answers.names_in_sentences import TEXT, is_sentence
from steelyard.answers.normal import normal_form, was_read
from steelyard.foundation.surrogates import replace_surrogates

LONGEST_SYMBOLIC = 200
_BY_ZERO = re.compile(r"-?\d+/0")
_SENTENCE = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{4,}")
_MATHS = re.compile(r"\\[A-Za-z]|[-+*/^=()\d]")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_CONTEXT_DEPENDENT = re.compile(r"%|[Pp]er ?cent|^[\s$]*+[-−]?\d++,\d++[\s$.]*+$")  # the other answers decide


@dataclass
class Groups:
    """The class number of every answer, in order of appearance, and the number of undecided pairs."""

    classes: list[int]
    undecided: int


def looks_symbolic(form: str) -> bool:
    """Whether a form that was not parsed may be maths rather than words; 8/0 has no value to compare."""
    return (
        not _BY_ZERO.fullmatch(form)
        and len(form) <= LONGEST_SYMBOLIC
        and bool(_MATHS.search(form))
        and not _SENTENCE.search(form)
    )


def symbolic_forms(forms: Iterable[str]) -> list[str]:
    """The distinct forms that were not parsed and may be maths."""
    return sorted(form for form in set(forms) if looks_symbolic(form) and not was_read(form))


def representatives(forms: Sequence[str], same: Sequence[Pair]) -> dict[str, str]:
    """Map every form to the smallest form of its class."""
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
        candidates = open_pairs(Counter(forms), symbolic_forms(forms), checker)
        verdicts = checker.decide(candidates.pairs)
        same = [pair for pair, verdict in zip(candidates.pairs, verdicts, strict=True) if verdict]
        undecided = candidates.skipped + verdicts.count(None)
    representative = representatives(forms, same)
    numbers: dict[str, int] = {}
    classes = [numbers.setdefault(representative[form], len(numbers)) for form in forms]
    return Groups(classes, undecided)


def _forms(answers: Sequence[str]) -> list[str]:
    """The normal forms of the answers to one question, which together settle percentages and decimal commas."""
    texts = pl.Series([replace_surrogates(answer) for answer in answers], dtype=pl.String)
    forms = pl.Series([normal_form(text) for text in texts], dtype=pl.String)
    question = np.zeros(len(texts), np.int64)
    forms = settle_percentages(texts, forms, question, len(texts))
    return settle_decimal_commas(texts, forms, question, len(texts)).to_list()


def group_answers(answers: Sequence[str]) -> list[int]:
    """Return the class number of every answer; the same number means the same answer.

    >>> group_answers(["1/2", "0.5", "x+1", r"\\\\frac{1}{2}", "1+x"])
    [0, 0, 1, 0, 1]
    >>> group_answers(["50%", "0.5"]), group_answers(["50%", "50", "0.5"])  # with a bare 50, 50% means 50
    ([0, 0], [0, 0, 1])
    """
    if not symbolic_forms(_forms(answers)):
        return group(answers).classes
    with EquivalenceChecker() as checker:
        return group(answers, checker).classes


def same_answer(a: str, b: str) -> bool:
    """Return whether two answers are the same; a pair that cannot be decided in time is not.

    >>> same_answer("1/2", "50%"), same_answer("50", "50%"), same_answer("12", "twelve")
    (True, True, False)
    """
    with EquivalenceChecker() as checker:
        return same(a, b, checker)


def same(a: str, b: str, checker: EquivalenceChecker) -> bool:
    """Return whether two answers are the same, with a checker that is shared between calls."""
    return len(set(group([a, b], checker).classes)) == 1


def simple_keys(texts: Sequence[str], kind: Kind) -> list[str | None] | None:
    r"""Return the keys that `AnswerReader.keys` would give, or None if other answers or algebra decide.

    >>> from steelyard.answers.extract import kind_of
    >>> simple_keys(["7", "1/2", "0.5", "7.0"], kind_of("math")), simple_keys([r"\sqrt[3]{x}"], kind_of("math"))
    (['7', '1/2', '1/2', '7'], None)
    """
    if kind.name == TEXT and any(map(is_sentence, texts)):
        return None
    if not kind.maths:
        return [form if (form := kind.form(text)) or kind.blank else None for text in texts]
    if any(_CONTEXT_DEPENDENT.search(text) for text in texts):
        return None
    keys = [text if _INTEGER.fullmatch(text) else kind.form(text) or None for text in texts]
    return None if symbolic_forms(key for key in keys if key is not None) else keys
