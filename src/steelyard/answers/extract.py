"""Extract the final answer of a response with rules that are tried in order; every rule is linear in the text.

Each kind of answer defines its rules and its comparison in one file of `kinds/`. Of several boxes the last closed one
counts; a box that is never closed was cut off and is skipped. Text after the thinking takes precedence over the
thinking. Bold and quotes around an answer are removed. Units stay in the text; the normal form drops them. If no rule
matches, the answer is None.
"""

from __future__ import annotations

from functools import cache

from steelyard.answers.kind import CUT_OFF, NOTHING, Extracted, Kind
from steelyard.answers.kinds import registry
from steelyard.answers.pattern import PREFIX, pattern_kind
from steelyard.foundation.errors import SettingError, did_you_mean

__all__ = ["AUTO", "CUT_OFF", "KINDS", "NOTHING", "Extracted", "check_kind", "extract", "extract_answer", "kind_of"]
AUTO = "auto"
KINDS = registry().built_in


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
        return registry().get(name)
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
