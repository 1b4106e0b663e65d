"""Extract the final answer of a response with rules that are tried in order; every rule is linear in the text.

Each kind of answer defines its rules and its comparison in one file of `kinds/`. Of several boxes the last closed one
counts; a box that is never closed was cut off and is skipped. Text after the thinking takes precedence over the
thinking. Bold and quotes around an answer are removed. Units stay in the text; the normal form drops them. If no rule
matches, the answer is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from steelyard.answers.kind import CUT_OFF, NOTHING, Extracted, Kind, first_match, short
from steelyard.answers.kinds import REGISTRY
from steelyard.answers.normal import normal_form
from steelyard.foundation.errors import SettingError, did_you_mean, known, nearest

__all__ = ["AUTO", "CUT_OFF", "KINDS", "NOTHING", "Extracted", "check_kind", "extract", "extract_answer", "kind_of"]
AUTO = "auto"
KINDS = REGISTRY.built_in
PREFIX, FREE = "re:", "free:"
OF_COLUMNS = ("column", "cosine", "judged")  # similarities that compare a column instead of the response


def extract(text: str, kind: str = "math", *, cut: bool = False) -> Extracted:
    """Extract the final answer of a response, together with the rule that matched.

    If the response was `cut` off by its length limit, only an answer that it marks counts.

    >>> extract(r"so the total is \\boxed{\\frac{1}{2}}.").rule
    'boxed'
    >>> extract("Therefore, the answer is 12 apples")
    Extracted(answer='12 apples', rule='said')
    >>> extract("I do not know")
    Extracted(answer=None, rule='none')
    >>> extract("Let me think about 3 and", cut=True), extract(r"\\boxed{3}, let me check that", cut=True)
    (Extracted(answer=None, rule='cut off'), Extracted(answer='3', rule='boxed'))
    """
    return kind_of(kind).extract(text, cut=cut)


def extract_answer(text: str, kind: str = "math", *, cut: bool = False) -> str | None:
    """Return the final answer of a response, or None; `extract` also returns the rule that matched.

    With `cut`, the response was cut off by its length limit, and only an answer that it marks counts.

    >>> extract_answer("3 apples and 4 more: the answer is 7."), extract_answer("I am not sure.")
    ('7', None)
    """
    return extract(text, kind, cut=cut).answer


@cache
def kind_of(name: str) -> Kind:
    """Return the kind with this name; the error for an unknown name lists the kinds."""
    if name in KINDS:
        return REGISTRY.get(name)
    if name.startswith(FREE):
        return free_kind(name)
    if not name.startswith(PREFIX) or name == PREFIX:
        raise SettingError(f"unknown kind of answer {name!r}: {did_you_mean(name, (*KINDS, AUTO))}, or re:PATTERN")
    return pattern_kind(name.removeprefix(PREFIX))


def check_kind(kind: str) -> str:
    """Return the name of a kind if it exists; `auto` is refused, because it needs a table."""
    if kind == AUTO:
        raise SettingError(
            f"'auto' chooses the kind from a table of responses, and there is none yet: use one of {', '.join(KINDS)}"
        )
    return kind_of(kind).name


def free_kind(name: str) -> Kind:
    """Return the kind of free text with another similarity: `free:NAME`, or `free:cosine:COLUMN` and the like."""
    from steelyard.answers.similarities.similarity import find_similarity, registry

    similarity, _, column = name.removeprefix(FREE).partition(":")
    if similarity not in registry().names:
        raise SettingError(_unknown_similarity(similarity, column, registry().names))
    find_similarity(similarity)  # refuse one that cannot be imported early
    if (similarity in OF_COLUMNS) != bool(column):
        raise SettingError(
            f"{name!r} does not fit: write free:column:NAME to compare the values of a column, free:cosine:NAME to "
            "compare its vectors, free:judged:NAME to use its judgements, or free:json"
        )
    free = REGISTRY.get("free")
    form = str.strip if column or similarity == "json" else free.form
    return replace(free, name=name, similarity=similarity, column=column or None, form=form)


def _unknown_similarity(name: str, column: str, names: Sequence[str]) -> str:
    """Say what may be meant: a similarity of nearly this name, or a column of this name."""
    near = nearest(name, names)
    if near is None:
        return f"unknown similarity {name!r}: write {FREE}column:{name} to compare the column {name!r}; {known(names)}"
    kind = FREE + near + (f":{column or 'NAME'}" if near in OF_COLUMNS else "")
    or_column = "" if column else f" Or write {FREE}column:{name} to compare the column {name!r}"
    return f"unknown similarity {name!r}: did you mean {kind}?{or_column}"


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
