r"""The final answer of a response, read by rules that are tried in order; every rule is linear in the text.

`math`: the last \boxed{..}; the `answer` field of a JSON reply; "final answer is .."; "#### .."; "Answer: ..";
"the answer is .."; the last number. `number`: the same, but the number in it. `choice`: a letter A-J. `text`: the
`answer` field, what follows "final answer is" or "Answer:", or all of a short response. `re:PATTERN`: the first group
(or all) of the last match of your pattern, run by an engine that takes linear time.

Two boxes: the last closed one counts. A box that is never closed was cut off and is passed over. Bold and quotes around
an answer are taken off. Units stay in the text; the normal form drops them. Nothing found: None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from steelyard.errors import SettingError, did_you_mean

KINDS = ("math", "number", "choice", "text")
TAIL = 20_000  # characters at the end of a response in which an answer is looked for
MOST_BRACES = 4000  # the longest boxed answer
MOST_SAID = 20  # mentions of an answer looked at, from the end


class Extracted(NamedTuple):
    """What was read, and by which rule; (None, "none") if nothing was."""

    answer: str | None
    rule: str


NOTHING = Extracted(None, "none")
Rule = Callable[[str], str | None]

# White space and marks are taken possessively (*+): no pattern goes back over them, so each is linear in the text.
_SAID = re.compile(r"(?:final answer|answer)\s*+(?:is|:|=)\s*+[:*]*+\s*+([^\n]{1,400})", re.IGNORECASE)
_FINAL = re.compile(r"final\s++answer\s*+(?:is|:|=)\s*+[:*]*+\s*+([^\n]{1,400})", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:^|\n)[ \t>*_#-]{0,8}(?:the\s++)?answer\s*+(?:is\s*+)?[:=]\s*+\**+\s*+([^\n]{1,400})", re.IGNORECASE
)
_HASHES = re.compile(r"####[ \t]*+([^\n]{1,400})")
_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})++|\d++)(?:\.\d++)?(?:/\d++)?%?|-?\.\d++")
_FIELD = re.compile(
    r'"answer"\s{0,20}:\s{0,20}(?:"((?:[^"\\]|\\.){0,4000})"|(-?[\d.][\d.eE+-]{0,60})|(true|false))', re.DOTALL
)
_BOLD = re.compile(r"\*\*\s*+\(?([A-J])\)?[.:)]?\s*+\*\*")
_LETTER = re.compile(r"\\boxed\s*+\{\s*+(?:\\text\s*+\{\s*+)?\(?([A-J])\)?[.:]?\s*+\}")
_SAID_LETTER = re.compile(
    r"answer\s*+(?:is|:|=)?\s*+[:*]*+\s*+(?:option\s*+)?\(?\**+([A-J])\**(?![A-Za-z'])", re.IGNORECASE
)
_END = re.compile(r"[.!?](?:\s|\*|$)|,\s++(?=[a-z])")  # of a statement
_PAREN = re.compile(r"\(([A-J])\)")
_ALONE = re.compile(r"\s*+\(?([A-J])\)?[.:]?\s*+")


def extract(text: str, kind: str = "math") -> Extracted:
    """Read the final answer out of a response, and say which rule found it.

    >>> extract(r"so the total is \\boxed{\\frac{1}{2}}.").rule
    'boxed'
    >>> extract("Therefore, the answer is 12 apples")
    Extracted(answer='12 apples', rule='said')
    >>> extract("I do not know")
    Extracted(answer=None, rule='none')
    """
    rules = RULES.get(kind)
    if rules is None:
        return _by_pattern(text, kind)
    tail = text[-TAIL:]
    for name, rule in rules:
        found = rule(tail)
        if found is not None and found.strip():
            return Extracted(found.strip(), name)
    return NOTHING


def extract_answer(text: str, kind: str = "math") -> str | None:
    """Return the final answer of a response, None if there is none; see `extract` for the rule.

    >>> extract_answer("3 apples and 4 more: the answer is 7."), extract_answer("I am not sure.")
    ('7', None)
    """
    return extract(text, kind).answer


def check_kind(kind: str) -> str:
    """Return the kind if it exists, else say which do."""
    if kind not in RULES:
        _by_pattern("", kind)
    return kind


def _boxed(text: str) -> str | None:
    """The content of the last closed box; one that is never closed was cut off and is passed over."""
    end = len(text)
    for _ in range(3):
        start = max(text.rfind("\\boxed", 0, end), text.rfind("\\fbox", 0, end))
        if start < 0:
            return None
        content = _braced(text, start)
        if content is not None:
            return content
        end = start
    return None


def _braced(text: str, start: int) -> str | None:
    brace = text.find("{", start, start + 12)
    if brace < 0:
        return None
    depth = 0
    for i in range(brace, min(len(text), brace + MOST_BRACES)):
        char = text[i]
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return text[brace + 1 : i]
    return None


def _json_field(text: str) -> str | None:
    """The value of the last "answer" key. LaTeX in JSON is often not escaped, so \\f of \\frac stays as it is."""
    start = text.rfind('"answer"')
    if start < 0:
        return None
    found = _FIELD.match(text, start)
    if not found:
        return None
    if found[1] is None:
        return found[2] or found[3]
    return found[1].replace("\\\\", "\\").replace('\\"', '"').replace("\\n", " ") if "\\" in found[1] else found[1]


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    return found[1] if found else None


def _last_said(pattern: re.Pattern[str], text: str) -> str | None:
    """The last match of a pattern about an "answer", looked for around that word only, from the end."""
    lowered = text.lower()
    at = len(text)
    for _ in range(MOST_SAID):
        at = lowered.rfind("answer", 0, at)
        if at < 0:
            return None
        found = _last(pattern, text[max(0, at - 40) : at + 500])
        if found is not None:
            return found
    return None


def _statement(text: str | None) -> str | None:
    """What a sentence says: the maths it begins with, or its words up to the full stop."""
    if text is None:
        return None
    said = text.strip().strip("*_`\"' ")
    for opening, closing in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        if said.startswith(opening):
            inside, closed, _ = said[len(opening) :].partition(closing)
            return inside if closed else said
    end = _END.search(said)
    return (said[: end.start()] if end else said).strip("*_`\"' ") or None


def _final(text: str) -> str | None:
    return _statement(_last_said(_FINAL, text))


def _hashes(text: str) -> str | None:
    found = _last(_HASHES, text)
    return found.strip().strip("*") if found else None


def _label(text: str) -> str | None:
    return _statement(_last_said(_LABEL, text))


def _said(text: str) -> str | None:
    return _statement(_last_said(_SAID, text))


def _last_number(text: str) -> str | None:
    """The last number; the end of the text is looked at first."""
    for start in (max(0, len(text) - 300), 0):
        found = None
        for found in _NUMBER.finditer(text, start):  # noqa: B007 - the last one is wanted
            pass
        if found and (start == 0 or found.start() > start):  # else it may have begun before
            return found[0]
    return None


def _within(rule: Rule) -> Rule:
    """The number in what another rule found."""

    def number(text: str) -> str | None:
        found = rule(text)
        return None if found is None else _last_number(found)

    return number


def _letter(rule: Rule) -> Rule:
    """The lone letter in what another rule found."""

    def letter(text: str) -> str | None:
        found = rule(text)
        alone = _ALONE.fullmatch(found) if found else None
        return alone[1].upper() if alone else None

    return letter


def _upper(pattern: re.Pattern[str]) -> Rule:
    def find(text: str) -> str | None:
        found = _last(pattern, text)
        return found.upper() if found else None

    return find


def _whole(text: str) -> str | None:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (text.strip() if len(text.strip()) <= 200 else lines[-1]) if lines else None


_MATH: list[tuple[str, Rule]] = [
    ("boxed", _boxed), ("json", _json_field), ("final", _final),
    ("hashes", _hashes), ("label", _label), ("said", _said),
]  # fmt: skip
RULES: dict[str, list[tuple[str, Rule]]] = {
    "math": [*_MATH, ("number", _last_number)],
    "number": [*((name, _within(rule)) for name, rule in _MATH), ("number", _last_number)],
    "choice": [
        ("boxed", _upper(_LETTER)), ("json", _letter(_json_field)), ("said", _upper(_SAID_LETTER)),
        ("bold", _upper(_BOLD)), ("parenthesis", _upper(_PAREN)), ("alone", _letter(_whole)),
    ],
    "text": [("json", _json_field), ("final", _final), ("label", _label), ("text", _whole)],
}  # fmt: skip


def _by_pattern(text: str, kind: str) -> Extracted:
    """A user's pattern, by an engine that cannot run away."""
    import polars as pl

    prefix, _, pattern = kind.partition(":")
    if prefix != "re" or not pattern:
        raise SettingError(f"unknown kind of answer {kind!r}: {did_you_mean(kind, KINDS)}, or re:PATTERN")
    try:
        matches = pl.Series([text]).str.extract_all(pattern)[0]
        found = matches[-1] if len(matches) else None
        group = pl.Series([found]).str.extract(pattern, 1)[0] if "(" in pattern and found is not None else None
    except pl.exceptions.PolarsError as error:
        raise SettingError(f"cannot use the pattern {pattern!r}: {str(error).splitlines()[0]}") from None
    answer = group if group is not None else found
    return Extracted(answer, "pattern") if answer else NOTHING
