"""re:PATTERN: the first group, or all, of the last match of a user's pattern, with a linear-time engine."""

from __future__ import annotations

from steelyard.answers.kind import CUT_OFF, Extracted, Kind, first_match, short
from steelyard.answers.normal import normal_form
from steelyard.foundation.errors import SettingError

PREFIX = "re:"


class PatternKind(Kind):
    """A kind that searches the whole response: only the pattern decides where the answer is."""

    def extract(self, response: str, *, cut: bool = False) -> Extracted:
        """Return the last match in a response."""
        reading = first_match(self.marked, response)
        return CUT_OFF if cut and reading.answer is None else reading


def pattern_kind(pattern: str) -> Kind:
    """Return the kind for a pattern; its answers are compared like those of `math`."""
    last_match("", pattern)  # refuse an invalid pattern early
    rules = (("pattern", lambda text: last_match(text, pattern)),)
    return PatternKind(PREFIX + pattern, rules, (), short, normal_form, maths=True)


def last_match(text: str, pattern: str) -> str | None:
    """Return the first group of the last match, or the match itself without a group.

    >>> last_match("a => 1; b => 2", r"=>\\s*(\\w+)"), last_match("none", "=>")
    ('2', None)
    """
    import polars as pl

    try:
        matches = pl.Series([text]).str.extract_all(pattern)[0]
        match = matches[-1] if len(matches) else None
        group = pl.Series([match]).str.extract(pattern, 1)[0] if "(" in pattern and match is not None else None
    except pl.exceptions.PolarsError as error:
        raise SettingError(f"cannot use the pattern {pattern!r}: {str(error).splitlines()[0]}") from None
    answer: str | None = group if group is not None else match
    return answer or None
