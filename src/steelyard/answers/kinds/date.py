"""date: a date of the calendar, compared in its ISO spelling: "March 14th, 2020" is "2020-03-14".

Marked: a box, the `answer` field, what is said of the answer. Loose: the last date of the response, else its last year.
How dates in figures are read (03/04/2020): dates.py.
"""

from __future__ import annotations

from steelyard.answers.boxes import boxed
from steelyard.answers.dates import dates_in, years_in
from steelyard.answers.json_fields import json_field
from steelyard.answers.kind import Doubt, Kind, Named
from steelyard.answers.sayings import sayings
from steelyard.answers.statements import statement

END = 4000  # characters at the end in which a date is looked for
LONGEST = 400  # characters of an answer


def date_form(answer: str) -> str:
    """The ISO spelling of the first date of an answer, of its only year where it has no date, else the empty text.

    >>> date_form("Saturday, March 14th, 2020"), date_form("03/14/2020"), date_form("in 2020"), date_form("soon")
    ('2020-03-14', '2020-03-14', '2020', '')
    """
    dates = dates_in(answer[:LONGEST])
    return dates[0].iso if dates else _whole(answer[:LONGEST]) or ""


def ambiguous(answer: str) -> bool:
    """Whether the day and the month of an answer could be exchanged, as in 03/04/2020.

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


def _said(text: str) -> str | None:
    """The date in the last statement of an answer that has one."""
    stated = (statement(said.text, clauses=False) for said in sayings(text))
    return next((date for words in stated if (date := _enclosed(words))), None)


def _last(text: str) -> str | None:
    end = text[-END:]
    dates = dates_in(end)
    return end[dates[-1].start : dates[-1].end] if dates else None


def _last_year(text: str) -> str | None:
    years = years_in(text[-END:])
    return years[-1] if years else None


MARKED: tuple[Named, ...] = (
    ("boxed", lambda text: _enclosed(boxed(text))), ("json", lambda text: _enclosed(json_field(text))), ("said", _said),
)  # fmt: skip
LOOSE: tuple[Named, ...] = (("date", _last), ("year", _last_year))
DOUBT = Doubt(ambiguous, "dates such as 03/04/2020 are read with the month first; write 2020-03-04 to be sure")
KIND = Kind("date", MARKED, LOOSE, _whole, date_form, doubt=DOUBT)
