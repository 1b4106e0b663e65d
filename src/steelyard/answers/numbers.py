"""Numbers in running text."""

from __future__ import annotations

import re

from steelyard.answers.number_spellings import POWER_OF_TEN, full_spelling, ungrouped

NUMBER = re.compile(
    r"(?:(?<![\w)\]}.$])[-−])?\$?(?:\d{1,3}(?:,\d{3})++(?!\d)|\d++)(?:\.\d++)?(?:[eE][-+]?\d{1,4}(?!\w))?"
    r"(?:/\d++)?(?:\s?\\?%)?"
    r"|(?:(?<![\w)\]}])[-−])?(?<![\w.])\.\d++(?:\s?\\?%)?"
)
_LAST_DIGIT = re.compile(r".*\d", re.DOTALL)  # backtracks from the end once
FRACTION = re.compile(r"-?\\[dt]?frac\s{0,3}\{\s{0,3}-?\d{1,30}\s{0,3}\}\s{0,3}\{\s{0,3}\d{1,30}\s{0,3}\}")
_MIXED_OR_POWER = re.compile(  # 3 1/2, 2^{10}
    r"[-−]?\d{1,9} \d{1,4}/\d{1,4}|[-−]?\d{1,12}(?:\^|\*\*)(?:\d{1,3}|\{\d{1,3}\})"
)


def last_number(text: str) -> str | None:
    """Return the last number: the one that the last digit belongs to.

    >>> last_number("12 - 5 = 7 apples"), last_number("from 3-5 to −2"), last_number("at 1,200.50"), last_number("no")
    ('7', '−2', '1,200.50', None)
    >>> last_number("It takes 1 1/2 hours"), last_number("The ratio is 3:4"), last_number("So 1 234 in all")
    ('1 1/2', '3:4', '1 234')
    """
    digit = _LAST_DIGIT.match(text)
    if digit is None:
        return None
    end = digit.end()
    start = max(0, text.rfind(" ", 0, end), text.rfind("\n", 0, end))  # no number is split there
    match = None
    for match in NUMBER.finditer(text, start, end + len(" \\% ")):  # noqa: B007 - only the last match is used
        pass
    return full_spelling(text, match.start(), match.end()).replace("$", "") if match else None


def number_within(text: str) -> str | None:
    r"""Return the number in a short answer: a fraction, a power of ten, or its last number.

    >>> number_within("1 000 000"), number_within("1.234,56"), number_within("3 1/2"), number_within("2^{10}")
    ('1000000', '1234.56', '3 1/2', '2^{10}')
    >>> number_within(r"\frac{3}{4} of it"), number_within("2.5 \\times 10^{3} m"), number_within("12 apples")
    ('\\frac{3}{4}', '2.5 \\times 10^{3}', '12')
    """
    bare = text[-400:].replace("{,}", ",").replace(",\\!", ",")
    grouped = ungrouped(bare)
    if grouped:
        return grouped
    if _MIXED_OR_POWER.fullmatch(bare.strip()):
        return bare.strip()
    for pattern in (FRACTION, POWER_OF_TEN):
        matches = list(pattern.finditer(bare))
        if matches:
            return matches[-1][0]
    return last_number(bare)
