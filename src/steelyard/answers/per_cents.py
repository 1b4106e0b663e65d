"""Per cents: 10% is 10 where its question has a bare 10, else it is 1/10.

Graders of MATH take 10\\% for 10, and people who write 50% mean 0.5: which it is, the other answers of the question
say. The rule is a function of the set of its answers, so "the same" stays an equivalence relation in any order.
"""

from __future__ import annotations

import re

import polars as pl

from steelyard.answers.normal import normal_form
from steelyard.voting.pools.arrays import Bools, Ints

_SIGN = r"%|[Pp]er ?cent"
_PER_CENT = re.compile(
    r"[\s$]*+([-+−]?(?:\d[\d,]*+(?:\.\d*+)?|\.\d++))[\s$~]*+(?:\\[ ,])?"
    r"(?:\\?%|(?:\\text\s?\{\s*+)?per\s?cent\s*+\}?)[\s$.]*+",
    re.IGNORECASE,
)


def per_cent(answer: str) -> str | None:
    r"""The normal form of the number before a per cent sign; None if the answer is no such number.

    >>> per_cent(r"10\%"), per_cent("$12.5$ percent"), per_cent("10"), per_cent("5% of x")
    ('10', '25/2', None, None)
    """
    found = _PER_CENT.fullmatch(answer) if len(answer) <= 60 else None
    return normal_form(found[1]) if found else None


def settled(texts: pl.Series, keys: pl.Series, question: Ints, voting: int) -> pl.Series:
    """Give per cents the key of the bare number where one of the first `voting` texts of their question is it."""
    signed = _signed(texts)
    if not signed.any():
        return keys
    concerned = set(question[signed].tolist())
    rows = [row for row in (~signed).nonzero()[0].tolist() if row < voting and int(question[row]) in concerned]
    bare = {(int(question[row]), keys[row]) for row in rows}
    found = keys.to_list()
    for row in signed.nonzero()[0].tolist():
        number = per_cent(texts[row])
        if number is not None:
            found[row] = number if row < voting and (int(question[row]), number) in bare else normal_form(f"{number}%")
    return pl.Series(keys.name, found, pl.String)


def also_correct(texts: pl.Series, owner: Ints, golds: pl.Series, gold_owner: Ints) -> Bools:
    """Which texts are a gold answer but for its per cent sign, which only one of the two has."""
    correct = _signed(texts)
    gold_signed = _signed(golds)
    if not correct.any() and not gold_signed.any():
        return correct
    accepted: dict[int, list[tuple[bool, str]]] = {}
    for gold, of, sign in zip(golds, gold_owner.tolist(), gold_signed.tolist(), strict=True):
        accepted.setdefault(of, []).append((sign, (per_cent(gold) if sign else None) or normal_form(gold)))
    with_signs = {of for of, each in accepted.items() if any(sign for sign, _ in each)}
    for row, (of, sign) in enumerate(zip(owner.tolist(), correct.tolist(), strict=True)):
        number = None
        if sign:
            number = per_cent(texts[row])
        elif of in with_signs and texts[row] is not None:
            number = normal_form(texts[row])
        others = [value for signed, value in accepted.get(of, ()) if signed or sign]
        correct[row] = number is not None and number in others
    return correct


def _signed(texts: pl.Series) -> Bools:
    found: Bools = texts.str.contains(_SIGN).fill_null(False).to_numpy().copy()
    return found
