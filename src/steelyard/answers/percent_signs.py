"""Percentages: 10% is 10 if another answer to the question is a bare 10, else it is 1/10.

Graders of MATH accept 10\\% for 10, and people who write 50% mean 0.5: the other answers to the question decide. The
rule depends on the set of answers only, so equality is an equivalence relation in any order.
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


def percentage(answer: str) -> str | None:
    r"""Return the normal form of the number before a percent sign, or None.

    >>> percentage(r"10\%"), percentage("$12.5$ percent"), percentage("10"), percentage("5% of x")
    ('10', '25/2', None, None)
    """
    match = _PER_CENT.fullmatch(answer) if len(answer) <= 60 else None
    return normal_form(match[1]) if match else None


def settle_percentages(texts: pl.Series, keys: pl.Series, question: Ints, voting: int) -> pl.Series:
    """Give a percentage the key of the bare number if one of the first `voting` texts of its question is it."""
    signed = _signed(texts)
    if not signed.any():
        return keys
    questions = set(question[signed].tolist())
    rows = [row for row in (~signed).nonzero()[0].tolist() if row < voting and int(question[row]) in questions]
    bare = {(int(question[row]), keys[row]) for row in rows}
    settled_keys = keys.to_list()
    for row in signed.nonzero()[0].tolist():
        number = percentage(texts[row])
        if number is not None:
            settled_keys[row] = (
                number if row < voting and (int(question[row]), number) in bare else normal_form(f"{number}%")
            )
    return pl.Series(keys.name, settled_keys, pl.String)


def correct_without_sign(texts: pl.Series, owner: Ints, golds: pl.Series, gold_owner: Ints) -> Bools:
    """Return which texts equal a gold answer except that only one of the two has a percent sign."""
    correct = _signed(texts)
    gold_signed = _signed(golds)
    if not correct.any() and not gold_signed.any():
        return correct
    accepted: dict[int, list[tuple[bool, str]]] = {}
    for gold, question, sign in zip(golds, gold_owner.tolist(), gold_signed.tolist(), strict=True):
        accepted.setdefault(question, []).append((sign, (percentage(gold) if sign else None) or normal_form(gold)))
    with_signs = {question for question, forms in accepted.items() if any(sign for sign, _ in forms)}
    for row, (question, sign) in enumerate(zip(owner.tolist(), correct.tolist(), strict=True)):
        number = None
        if sign:
            number = percentage(texts[row])
        elif question in with_signs and texts[row] is not None:
            number = normal_form(texts[row])
        others = [value for signed, value in accepted.get(question, ()) if signed or sign]
        correct[row] = number is not None and number in others
    return correct


def _signed(texts: pl.Series) -> Bools:
    mask: Bools = texts.str.contains(_SIGN).fill_null(False).to_numpy().copy()
    return mask
