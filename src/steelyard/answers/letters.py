"""The letter of an option in the words that choose it: "B", "(b)", "B) Rome".

Articles and pronouns do not count: "the answer is a bee" and "Answer: I think so" choose nothing. Several options,
"A and C", are a separate answer, "A,C", which is neither A nor C.
"""

from __future__ import annotations

import re

_WRAPPED = re.compile(
    r"\\(?:text|textbf|mathrm|mathbf|textit|mathit|boxed|fbox|operatorname|mathsf)\s?\{|[{}$]|\\[ ()\[\]]"
)
_OPTION = r"(?:(?:the\s++)?(?:option|choice|letter|answer|alternative|statement)s?+\s*+[:#]?+\s*+)?+"
_CHOSEN = re.compile(
    _OPTION + r"[(\[\"'`*_ ]*+(?P<letter>[A-Ja-j])(?!['’]s\b|-(?-i:[a-z])|\s*+=)"
    r"(?P<after>[)\]*_\"'`]*+(?:[.:,;)\-–—]|\s|$)|[)\]*_\"'`]++)(?P<rest>.{0,40})",
    re.IGNORECASE | re.DOTALL,
)
_ALONE = re.compile(r"[(\[\"'`*_\s]*+([A-Ja-j])[)\]\"'`*_.:,;\s]*+")
_GOES_ON = re.compile(
    r"(?:because|since|as|and|is|with|for|which|by|due|given|based|from|that|so|it|the|this|would|in|on|only|[(\[–—:-]|[A-Z0-9])"
)


_CLOSED = re.compile(r"[)\]\"'`*_]*+")
_ALSO = re.compile(
    r"(?:\s*+,?+\s*+(?:and|&)\s++|\s*+,\s*+)(?i:" + _OPTION + r")[(\[\"'`*_]*+([A-J])[)\]\"'`*_]*+"
    r"(?=\s*+(?:$|[.,;:&]|(?:and|are|both|were)\b))"
)
_REFUSED = re.compile(r"\s*+(?:are|were)\s++(?:(?:both|all|also|clearly)\s++)?(?:not|wrong|incorrect|false)\b")
LETTERS = r"^[A-J](?:,[A-J])*$"  # the form of a choice of one letter or several


def _with_others(text: str, first: str, at: int) -> str:
    """The first letter and those named with it, in alphabetical order."""
    letters, at = {first}, _end(_CLOSED, text, at)
    while also := _ALSO.match(text, at):
        letters.add(also[1])
        at = also.end()
    return first if _REFUSED.match(text, at) else ",".join(sorted(letters))


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def chosen(text: str) -> str | None:
    """Return the letter (or letters) that a statement begins with, in capitals, or None.

    >>> [chosen(text) for text in ("B) Rome", "(b)", "option **C**.", "\\\\text{(D)}", "A because it")]
    ['B', 'B', 'C', 'D', 'A']
    >>> [chosen(text) for text in ("a bee", "Rome", "I think", "D-glucose", "E = mc^2", "A's")]
    [None, None, None, None, None, None]
    >>> chosen("A and C."), chosen("(B), (C), and (D)"), chosen("C, A and B are wrong"), chosen("B, I think")
    ('A,C', 'B,C,D', 'C', 'B')
    """
    bare = _WRAPPED.sub("", text[:200]).strip()
    alone = _ALONE.fullmatch(bare)
    if alone:
        return alone[1].upper()
    match = _CHOSEN.match(bare)
    if not match:
        return None
    letter, after, rest = match["letter"], match["after"], match["rest"].lstrip(" *_")
    several = _with_others(bare, letter, match.end("letter"))
    if several != letter:
        return several
    spaced = not after.strip()
    named = bool(bare[: match.start("letter")].strip(" "))  # "option a", "(a"
    goes_on = spaced and bool(rest) and not named
    article = letter.islower() or letter == "I" or (letter == "A" and not _GOES_ON.match(rest))
    return None if goes_on and article else letter.upper()
