r"""Texts that look like a calculation but are not: ranges (12-15), times of day (10:30), dates (2024-01-15).

A range increases: 12-15 is not -3, while 15-12 is 3, as graders have it. A ratio is in lowest terms: 1:3 is 1/3, while
10:30 and 9:05 are times. Ranges and times are compared in a canonical spelling.
"""

from __future__ import annotations

import re
from math import gcd

_NUMBER = r"\d{1,15}(?:\.\d{1,15})?"
_RANGE = re.compile(rf"({_NUMBER})\s?(%?)\s?(?:-|to)\s?({_NUMBER})\s?(%?)")
_TIME = re.compile(r"(\d\d?):([0-5]\d)(?:\s?([ap])\.?m\.?)?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{4}/\d\d?/\d\d?|\d\d?/\d\d?/\d{4}")  # neither a difference nor a fraction


def range_or_time(text: str) -> str | None:
    """Return the canonical spelling of a range, a time or a date; None for any other text.

    >>> range_or_time("12 - 15"), range_or_time("12 to 15%"), range_or_time("15-12"), range_or_time("2024-01-15")
    ('12-15', '12-15%', None, '2024-01-15')
    >>> range_or_time("10:30"), range_or_time("09:05"), range_or_time("9:16 PM"), range_or_time("9:16")
    ('10:30', '9:05', '9:16 pm', None)
    """
    if _DATE.fullmatch(text):
        return text
    match = _RANGE.fullmatch(text)
    if match and float(match[1]) < float(match[3]):
        return f"{match[1]}-{match[3]}{match[2] or match[4]}"
    time = _TIME.fullmatch(text)
    if not time or int(time[1]) > 24:
        return None
    if time[3]:
        return f"{int(time[1])}:{time[2]} {time[3].lower()}m"
    return f"{int(time[1])}:{time[2]}" if time[2][0] == "0" or gcd(int(time[1]), int(time[2])) > 1 else None
