r"""What looks like a calculation and is none: a range of numbers (12-15), a time of day (10:30), a date (2024-01-15).

A range rises: 12-15 is no -3, while 15-12 is 3, as graders say. A ratio is written in lowest terms: 1:3 is 1/3, while
10:30 and 9:05 are times. So two ranges, or two times, are one answer only if they are the same.
"""

from __future__ import annotations

import re
from math import gcd

_NUMBER = r"\d{1,15}(?:\.\d{1,15})?"
_RANGE = re.compile(rf"({_NUMBER})\s?(%?)\s?(?:-|to)\s?({_NUMBER})\s?(%?)")
_TIME = re.compile(r"(\d\d?):([0-5]\d)(?:\s?([ap])\.?m\.?)?", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{4}/\d\d?/\d\d?|\d\d?/\d\d?/\d{4}")  # no difference, and no fraction


def range_or_time(text: str) -> str | None:
    """A plain text that is a range, a time or a date, in one spelling; None for all else.

    >>> range_or_time("12 - 15"), range_or_time("12 to 15%"), range_or_time("15-12"), range_or_time("2024-01-15")
    ('12-15', '12-15%', None, '2024-01-15')
    >>> range_or_time("10:30"), range_or_time("09:05"), range_or_time("9:16 PM"), range_or_time("9:16")
    ('10:30', '9:05', '9:16 pm', None)
    """
    if _DATE.fullmatch(text):
        return text
    found = _RANGE.fullmatch(text)
    if found and float(found[1]) < float(found[3]):
        return f"{found[1]}-{found[3]}{found[2] or found[4]}"
    time = _TIME.fullmatch(text)
    if not time or int(time[1]) > 24:
        return None
    if time[3]:
        return f"{int(time[1])}:{time[2]} {time[3].lower()}m"
    return f"{int(time[1])}:{time[2]}" if time[2][0] == "0" or gcd(int(time[1]), int(time[2])) > 1 else None
