"""The final answer of a response, read by rules that are tried in order; every rule is linear in the text.

What a kind reads and how it compares is in `kinds/`, one file each. Two boxes: the last closed one counts. A box that
is never closed was cut off and is passed over. What follows the thinking beats what was thought. Bold and quotes around
an answer are taken off. Units stay in the text; the normal form drops them. Nothing found: None.
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
    """Read the final answer out of a response, and say which rule found it.

    A response that was `cut` off by its length limit gives only an answer that it marks.

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
    """Return the final answer of a response, None if there is none; see `extract` for the rule.

    With `cut`, the response was cut off by its length limit, and only an answer that it marks counts.

    >>> extract_answer("3 apples and 4 more: the answer is 7."), extract_answer("I am not sure.")
    ('7', None)
    """
    return extract(text, kind, cut=cut).answer


@cache
def kind_of(name: str) -> Kind:
    """Return the kind of this name, else say which there are."""
    if name in KINDS:
        return registry().get(name)
    if not name.startswith(PREFIX) or name == PREFIX:
        raise SettingError(f"unknown kind of answer {name!r}: {did_you_mean(name, (*KINDS, AUTO))}, or re:PATTERN")
    return pattern_kind(name.removeprefix(PREFIX))


def check_kind(kind: str) -> str:
    """Return the name of a kind if it exists, else say which do; `auto` needs a table to look at."""
    if kind == AUTO:
        raise SettingError(
            f"'auto' looks at a table of responses, and here is none yet: name one of {', '.join(KINDS)}"
        )
    return kind_of(kind).name
