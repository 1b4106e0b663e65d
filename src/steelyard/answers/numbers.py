"""Numbers in running text, and their spellings that are not expressions: 1.5e3, 1 234, 1.234,56, 2.5 x 10^3.

`plain_number` rewrites such spellings as expressions. `full_spelling` extends the last digits of a number to the
complete number, so that "It takes 1 1/2 hours" is not read as 1/2, "The ratio is 3:4" not as 4, and "3,5" not as 5.
"""

from __future__ import annotations

import re
from fractions import Fraction

from steelyard.answers.kind import final_match

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
    match = final_match(NUMBER, text, start, end + len(" \\% "))
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
    match = final_match(FRACTION, bare) or final_match(POWER_OF_TEN, bare)
    return match[0] if match else last_number(bare)


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
