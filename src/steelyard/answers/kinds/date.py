"""date: a calendar date, compared in its ISO spelling: "March 14th, 2020" is "2020-03-14".

Marked: a box, the `answer` field, "the answer is ..". Loose: the last date of the response, else its last year.
dates.py explains how numeric dates (03/04/2020) are read.
"""

from __future__ import annotations

from steelyard.answers.boxes import boxed
from steelyard.answers.dates import dates_in, years_in
from steelyard.answers.json_fields import json_field
from steelyard.answers.kind import Doubt, Kind, NamedRule
from steelyard.answers.mentions import mentions
from steelyard.answers.statements import statement

END = 4000  # characters at the end that are searched for a date
LONGEST = 400  # characters of an answer


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


MARKED: tuple[NamedRule, ...] = (
    ("boxed", lambda text: _enclosed(boxed(text))), ("json", lambda text: _enclosed(json_field(text))),
    ("said", _stated),
)  # fmt: skip
LOOSE: tuple[NamedRule, ...] = (("date", _last), ("year", _last_year))
DOUBT = Doubt(ambiguous, "dates such as 03/04/2020 are read with the month first; write 2020-03-04 to be sure")
KIND = Kind("date", MARKED, LOOSE, _whole, date_form, doubt=DOUBT)
