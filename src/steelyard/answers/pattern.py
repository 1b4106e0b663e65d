"""re:PATTERN: the first group (or all) of the last match of a user's pattern, by an engine that takes linear time."""

from __future__ import annotations

from steelyard.answers.kind import CUT_OFF, Extracted, Kind, first_found, short
from steelyard.answers.normal import normal_form
from steelyard.foundation.errors import SettingError

PREFIX = "re:"


class PatternKind(Kind):
    """A kind that looks at all of a response: the pattern alone says where the answer stands."""

    def extract(self, response: str, *, cut: bool = False) -> Extracted:
        """Read the last match out of a response."""
        match = first_found(self.marked, response)
        return CUT_OFF if cut and match.answer is None else match


def pattern_kind(pattern: str) -> Kind:
    """The kind of answers that a pattern finds; they are compared as those of `math` are."""
    last_match("", pattern)  # a pattern that cannot be used is refused now
    rules = (("pattern", lambda text: last_match(text, pattern)),)
    return PatternKind(PREFIX + pattern, rules, (), short, normal_form, maths=True)


def last_match(text: str, pattern: str) -> str | None:
    """The first group of the last match, or all of it.

    >>> last_match("a => 1; b => 2", r"=>\\s*(\\w+)"), last_match("none", "=>")
    ('2', None)
    """
    import polars as pl

    try:
        matches = pl.Series([text]).str.extract_all(pattern)[0]
        found = matches[-1] if len(matches) else None
        group = pl.Series([found]).str.extract(pattern, 1)[0] if "(" in pattern and found is not None else None
    except pl.exceptions.PolarsError as error:
        raise SettingError(f"cannot use the pattern {pattern!r}: {str(error).splitlines()[0]}") from None
    answer: str | None = group if group is not None else found
    return answer or None
