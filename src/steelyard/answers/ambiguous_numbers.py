r"""Numbers that only the other answers to the question can settle: decimal commas (3,5) and percentages (10%).

3,5 is 3.5 if another answer to the question spells that number; else it is the list of 3 and 5: English uses the comma
to separate values, German as the decimal mark. A list in an unmistakable spelling ("3 and 5", "3, 5") keeps it a list,
and 3,500 is always 3500.

10% is 10 if another answer is a bare 10, else it is 1/10: graders of MATH accept 10\% for 10, and people who write 50%
mean 0.5. The rules depend on the set of answers only, so equality is an equivalence relation in any order.
"""

from __future__ import annotations

import re
from fractions import Fraction

import polars as pl

from steelyard.answers.normal import normal_form
from steelyard.voting.pools.arrays import Bools, Ints

WITH_COMMA = r"^[\s$]*[-−]?\d{1,12},(?:\d{1,2}|\d{4,12})[\s$.]*$"
_WITH_COMMA = re.compile(r"[\s$]*+([-−]?\d{1,12}),(\d{1,2}|\d{4,12})[\s$.]*+")
_SIGN = r"%|[Pp]er ?cent"
_PER_CENT = re.compile(
    r"[\s$]*+([-+−]?(?:\d[\d,]*+(?:\.\d*+)?|\.\d++))[\s$~]*+(?:\\[ ,])?"
    r"(?:\\?%|(?:\\text\s?\{\s*+)?per\s?cent\s*+\}?)[\s$.]*+",
    re.IGNORECASE,
)


def with_point(answer: str) -> str | None:
    """Return the normal form of a number with a decimal comma, or None.

    >>> with_point("3,5"), with_point("-0,25"), with_point("3,500"), with_point("3, 5"), with_point("1,2,3")
    ('7/2', '-1/4', None, None, None)
    """
    match = _WITH_COMMA.fullmatch(answer) if len(answer) <= 40 else None
    return str(Fraction(f"{match[1]}.{match[2]}".replace("−", "-"))) if match else None


def settle_decimal_commas(texts: pl.Series, keys: pl.Series, question: Ints, voting: int) -> pl.Series:
    """Give an answer with a decimal comma the key of that number if one of the first `voting` texts has it."""
    commas = _containing(WITH_COMMA, texts)
    if not commas.any():
        return keys
    questions = set(question[commas].tolist())
    rows = [row for row in (~commas).nonzero()[0].tolist() if row < voting and int(question[row]) in questions]
    others = {(int(question[row]), keys[row]) for row in rows}
    settled = keys.to_list()
    for row in commas.nonzero()[0].tolist():
        number, owner = with_point(texts[row]), int(question[row])
        if number is not None and (owner, number) in others and (owner, settled[row]) not in others:
            settled[row] = number
    return pl.Series(keys.name, settled, pl.String)


def correct_with_point(texts: pl.Series, owner: Ints, golds: pl.Series, gold_owner: Ints) -> Bools:
    """Return which texts equal a gold answer except for a decimal comma."""
    correct, gold_commas = _containing(WITH_COMMA, texts), _containing(WITH_COMMA, golds)
    if not correct.any() and not gold_commas.any():
        return correct
    rows = zip(gold_owner.tolist(), golds, gold_commas.tolist(), strict=True)
    accepted = {
        (question, comma, (with_point(gold) if comma else None) or normal_form(gold)) for question, gold, comma in rows
    }
    with_commas = {question for question, comma, _ in accepted if comma}
    for row, (question, comma) in enumerate(zip(owner.tolist(), correct.tolist(), strict=True)):
        number = with_point(texts[row]) if comma else None
        if not comma and question in with_commas and texts[row] is not None:
            number = normal_form(texts[row])
        correct[row] = number is not None and (question, not comma, number) in accepted
    return correct


def percentage(answer: str) -> str | None:
    r"""Return the normal form of the number before a percent sign, or None.

    >>> percentage(r"10\%"), percentage("$12.5$ percent"), percentage("10"), percentage("5% of x")
    ('10', '25/2', None, None)
    """
    match = _PER_CENT.fullmatch(answer) if len(answer) <= 60 else None
    return normal_form(match[1]) if match else None


def settle_percentages(texts: pl.Series, keys: pl.Series, question: Ints, voting: int) -> pl.Series:
    """Give a percentage the key of the bare number if one of the first `voting` texts of its question is it."""
    signed = _containing(_SIGN, texts)
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
    correct, gold_signed = _containing(_SIGN, texts), _containing(_SIGN, golds)
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


def _containing(pattern: str, texts: pl.Series) -> Bools:
    mask: Bools = texts.str.contains(pattern).fill_null(False).to_numpy().copy()
    return mask
