"""date: a calendar date, compared in its ISO spelling: "March 14th, 2020" is "2020-03-14".

Marked: a box, the `answer` field, "the answer is ..". Loose: the last date of the response, else its last year.

The day (March 2020) or the year (14 March) may be missing. In numeric dates with slashes or hyphens the month comes
first, as in the United States, unless that is impossible (25/12/2020); with points the day comes first. Two-digit years
are 1970 to 2069. Dates that do not exist (30 February) are ignored.
"""

from __future__ import annotations

import calendar
import re
from typing import NamedTuple

from steelyard.answers.boxes_and_fields import boxed, json_field
from steelyard.answers.kind import Doubt, Kind, NamedRule
from steelyard.answers.statements import mentions, statement

END = 4000  # characters at the end that are searched for a date
LONGEST = 400  # characters of an answer
LEAP_YEAR = 2000  # a date without a year may be 29 February
_NAMES = "january|february|march|april|may|june|july|august|september|october|november|december"
_SHORT = "jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
_MONTH = rf"(?:{_NAMES}|(?:{_SHORT})(?![a-z])\.?)"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"\d{4}(?!\d)"
_PATTERNS = (
    re.compile(r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)(?:T[\d:.]{4,15}Z?)?"),
    re.compile(r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d\d)(?![\d-])"),
    re.compile(r"(?<![\w-])--(?P<month>\d\d)-(?P<day>\d\d)(?![\d-])"),
    re.compile(r"(?<![\d/])(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})(?![\d/])"),
    re.compile(
        rf"\b(?P<day>{_DAY})\s{{1,3}}(?:day\s)?(?:of\s)?(?P<month>{_MONTH})(?:,?\s(?P<year>{_YEAR}))?(?!\w)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<month>{_MONTH})\s(?:the\s)?(?P<day>{_DAY})(?![\d:]|,?\d)(?:,?\s(?:in\s)?(?P<year>{_YEAR}))?(?!\w)",
        re.IGNORECASE,
    ),
    re.compile(rf"(?<!\d\s)\b(?P<month>{_MONTH})(?:,|\sof)?\s(?P<year>{_YEAR})(?!\w)", re.IGNORECASE),
    re.compile(r"(?<![\d./-])(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4}|\d{2})(?![\d.])"),
    re.compile(
        r"(?<![\d/.-])(?P<first>\d{1,2})(?P<sign>[/-])(?P<second>\d{1,2})(?P=sign)(?P<year>\d{4}|\d{2})(?![\d/-])"
    ),
)
_YEAR_ALONE = re.compile(r"(?<![\d.,/:$-])(?:1[0-9]|20)\d\d(?![\d.,/:%-]\d|\d)")
_ORDER = {name: number for number, name in enumerate(_NAMES.split("|"), 1)}
_ALSO_WORDS = ("may", "march", "mar")  # "we may 5 times": not a month without a capital or a year


def date_form(answer: str) -> str:
    """Return the ISO spelling of the first date of an answer, else its only year, else the empty string.

    >>> date_form("Saturday, March 14th, 2020"), date_form("03/14/2020"), date_form("in 2020"), date_form("soon")
    ('2020-03-14', '2020-03-14', '2020', '')
    """
    dates = dates_in(answer[:LONGEST])
    return dates[0].iso if dates else _whole(answer[:LONGEST]) or ""


def ambiguous(answer: str) -> bool:
    """Whether day and month of an answer could be swapped, as in 03/04/2020.

    >>> ambiguous("03/04/2020"), ambiguous("25/04/2020"), ambiguous("2020-03-04")
    (True, False, False)
    """
    return any(date.ambiguous for date in dates_in(answer[:LONGEST])[:1])


def _whole(text: str) -> str | None:
    """The first date of a text as it is written, or its only year."""
    dates = dates_in(text)
    if dates:
        return text[dates[0].start : dates[0].end]
    years = set(years_in(text))
    return years.pop() if len(years) == 1 else None


def _enclosed(text: str | None) -> str | None:
    return text if not text else _whole(text[:LONGEST])


def _stated(text: str) -> str | None:
    """The date in the last mention of the answer that has one."""
    statements = (statement(mention.text, clauses=False) for mention in mentions(text))
    return next((date for stated in statements if (date := _enclosed(stated))), None)


def _last(text: str) -> str | None:
    end = text[-END:]
    dates = dates_in(end)
    return end[dates[-1].start : dates[-1].end] if dates else None


def _last_year(text: str) -> str | None:
    years = years_in(text[-END:])
    return years[-1] if years else None


class DateMatch(NamedTuple):
    """A date in a text: its span, its ISO spelling, and whether day and month could be swapped."""

    start: int
    end: int
    iso: str
    ambiguous: bool = False


def dates_in(text: str) -> list[DateMatch]:
    """Return the dates of a text in order; of two that overlap, the longer one.

    >>> [one.iso for one in dates_in("born March 14th, 1879, died on 18 April 1955 in Princeton")]
    ['1879-03-14', '1955-04-18']
    >>> [one.iso for one in dates_in("3/14/2020 or 14.3.2020 or 25/12/2020, not 2020-02-30, in May 2021")]
    ['2020-03-14', '2020-03-14', '2020-12-25', '2021-05']
    """
    matches = [date for pattern in _PATTERNS for match in pattern.finditer(text) if (date := _parse(match))]
    matches.sort(key=lambda date: (date.start, -date.end))
    separate: list[DateMatch] = []
    for date in matches:
        if not separate or date.start >= separate[-1].end:
            separate.append(date)
    return separate


def years_in(text: str) -> list[str]:
    """Return the numbers in a text that look like years and are not part of a numeric date.

    >>> years_in("in 1921, on page 1,921 of $2000")
    ['1921']
    """
    return [match[0] for match in _YEAR_ALONE.finditer(text)]


def _parse(match: re.Match[str]) -> DateMatch | None:
    parts = match.groupdict()
    ambiguous = False
    if parts.get("first"):
        month, day = int(parts["first"]), int(parts["second"])
        ambiguous = month <= 12 and day <= 12 and month != day
        if month > 12:
            month, day = day, month
    else:
        month = _month(parts["month"])
        day = int(re.sub(r"\D", "", parts["day"])) if parts.get("day") else 0
    year = _year(parts.get("year"))
    if year is None and parts["month"] in _ALSO_WORDS:
        return None
    if year == 0 or not 1 <= month <= 12 or day > calendar.monthrange(year or LEAP_YEAR, month)[1]:
        return None
    if not day and parts.get("day"):
        return None
    iso = f"{year:04}-{month:02}" if year is not None else f"--{month:02}"
    return DateMatch(match.start(), match.end(), f"{iso}-{day:02}" if day else iso, ambiguous)


def _month(name: str) -> int:
    if name.isdecimal():
        return int(name)
    short = name.lower().rstrip(".")[:3]
    return next(number for month, number in _ORDER.items() if month.startswith(short))


def _year(year: str | None) -> int | None:
    if year is None:
        return None
    number = int(year)
    return number if len(year) == 4 else number + (1900 if number >= 70 else 2000)


MARKED: tuple[NamedRule, ...] = (
    ("boxed", lambda text: _enclosed(boxed(text))), ("json", lambda text: _enclosed(json_field(text))),
    ("said", _stated),
)  # fmt: skip
LOOSE: tuple[NamedRule, ...] = (("date", _last), ("year", _last_year))
DOUBT = Doubt(ambiguous, "dates such as 03/04/2020 are read with the month first; write 2020-03-04 to be sure")
KIND = Kind("date", MARKED, LOOSE, _whole, date_form, doubt=DOUBT)
