"""Spellings of numbers that are not expressions: 1.5e3, 1 234, 1.234,56, 2.5 x 10^3, 12 (twelve).

`plain_number` rewrites them as expressions. `full_spelling` extends the last digits of a number to the complete number,
so that "It takes 1 1/2 hours" is not read as 1/2, "The ratio is 3:4" not as 4, and "3,5" not as 5.
"""

from __future__ import annotations

import re
from fractions import Fraction

_SCIENTIFIC = re.compile(r"([-+−]?)(\d{1,40}(?:\.\d{1,40})?|\.\d{1,40})[eE]([-+]?\d{1,3})")
_GROUPED = re.compile(  # thousands separated by spaces or apostrophes, or by points before a decimal comma
    r"(?P<whole>[-−]?\d{1,3}(?:[ '’\u00a0\u202f]\d{3})++)(?P<rest>[.,]\d++)?"
    r"|(?P<points>[-−]?\d{1,3}(?:\.\d{3})++)(?P<decimals>,\d{1,30})"
)
_TIMES_TEN = re.compile(r"([-−]?\d{1,30}(?:\.\d{1,30})?)\s{0,3}x\s{0,3}(10\s{0,3}(?:\^|\*\*)\s{0,3}\{?[-−]?\d{1,3}\}?)")
_GLOSSED = re.compile(r"([-−$]{0,2}\d[\d,.]{0,30})\s?\((?P<words>[A-Za-z][A-Za-z -]{1,80})\)")
_NUMBER_WORDS = re.compile(
    r"(?:(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|billion|and|minus|negative|point)"
    r"[ -]*+){1,20}",
    re.IGNORECASE,
)
POWER_OF_TEN = re.compile(
    r"[-−]?\d{1,30}(?:\.\d{1,30})?\s{0,3}(?:\\times|\\cdot|×|x|\*)\s{0,3}10\s{0,3}(?:\^|\*\*)\s{0,3}\{?\s{0,3}[-−]?\d{1,3}\}?"
)
_PROPER = re.compile(r"(\d{1,4})/(\d{1,4})")
_LEADS = (  # the text before the last digits of a number, and those digits: 1 |1/2, 1 |234, 3:|4, 3,|5
    (re.compile(r"(?<![\w.,/:])[-−]?\d{1,9}[ \u00a0]$"), re.compile(r"\d{1,4}/\d{1,4}")),
    (
        re.compile(r"(?<![\w.,/:])[-−]?\d{1,3}(?:[ '’\u00a0\u202f]\d{3}){0,4}[ '’\u00a0\u202f]$"),
        re.compile(r"\d{3}(?:\.\d++)?"),
    ),
    (re.compile(r"(?<![\w.,/:])[-−]?\d{1,9}(?:\.\d{3}){0,4}(?:[:,]\d{1,9}){0,20}[:,]$"), re.compile(r"[\d.,:]++%?")),
)
REACH = 60  # characters before the last digits of a number that may belong to it


def scientific(text: str) -> str | None:
    """Return the value of a number in scientific notation, or None.

    >>> scientific("1.5e3"), scientific("-2.5E-1"), scientific("1500")
    ('1500', '-1/4', None)
    """
    match = _SCIENTIFIC.fullmatch(text.strip())
    if not match:
        return None
    value = Fraction(match[2]) * Fraction(10) ** int(match[3])
    return str(-value if match[1] in ("-", "−") else value)


def ungrouped(text: str) -> str | None:
    """Return a number without thousands separators and with a decimal point, or None.

    >>> ungrouped("1 000 000"), ungrouped("1.234,56"), ungrouped("1'234.5"), ungrouped("1.234")
    ('1000000', '1234.56', '1234.5', None)
    """
    match = _GROUPED.fullmatch(text.strip())
    if not match:
        return None
    digits, rest = match["whole"] or match["points"], match["rest"] or match["decimals"] or ""
    return re.sub(r"[^\d−-]", "", digits) + rest.replace(",", ".")


def plain_number(text: str) -> str:
    """Rewrite a number as an expression; any other text is returned unchanged.

    >>> plain_number("1.5e3"), plain_number("1 234"), plain_number("2.5 x 10^3"), plain_number("12 (twelve)")
    ('1500', '1234', '2.5*10^3', '12')
    >>> plain_number("5 (mod 7)"), plain_number("x + 1")
    ('5 (mod 7)', 'x + 1')
    """
    if not any(mark in text for mark in "eE xX'’(,"):
        return text
    glossed = _GLOSSED.fullmatch(text)
    if glossed and _NUMBER_WORDS.fullmatch(glossed["words"]):
        text = glossed[1]
    times = _TIMES_TEN.fullmatch(text)
    return scientific(text) or ungrouped(text) or (f"{times[1]}*{times[2]}" if times else text)


def full_spelling(text: str, start: int, end: int) -> str:
    """Return the complete number whose last digits are at `start` to `end`.

    >>> [full_spelling(text, at, len(text)) for text, at in (("It takes 1 1/2", 11), ("is 3:4", 5), ("a 1 234", 4))]
    ['1 1/2', '3:4', '1 234']
    """
    for power in POWER_OF_TEN.finditer(text, max(0, start - REACH), end + 1):
        if power.start() < start and power.end() >= end:
            return power[0]
    digits, before = text[start:end], text[max(0, start - REACH) : start]
    fraction = _PROPER.fullmatch(digits)
    for lead, rest in _LEADS:
        match = lead.search(before) if rest.fullmatch(digits) else None
        if match and not (fraction and not 0 < int(fraction[1]) < int(fraction[2])):
            return match[0] + digits
    return digits
