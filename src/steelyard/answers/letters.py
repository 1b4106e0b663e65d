"""The letter of an option in the words that choose it: "B", "(b)", "B) Rome", "option B is correct", "I choose B".

An article and a pronoun are no letters: "the answer is a bee" and "Answer: I think so" choose nothing.
"""

from __future__ import annotations

import re

_WRAPPED = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit|mathit|boxed|fbox|operatorname|mathsf)\s?\{|[{}$]|\\[ ()\[\]]")
_OPTION = r"(?:(?:the\s++)?(?:option|choice|letter|answer|alternative|statement)s?+\s*+[:#]?+\s*+)?+"
_CHOSEN = re.compile(
    _OPTION + r"[(\[\"'`*_ ]*+(?P<letter>[A-Ja-j])(?P<after>[)\]*_\"'`]*+(?:[.:,;)\-–—]|\s|$)|[)\]*_\"'`]++)(?P<rest>.{0,40})",
    re.IGNORECASE | re.DOTALL,
)
_ALONE = re.compile(r"[(\[\"'`*_\s]*+([A-Ja-j])[)\]\"'`*_.:,;\s]*+")
_GOES_ON = re.compile(
    r"(?:because|since|as|and|is|with|for|which|by|due|given|based|from|that|so|it|the|this|would|in|on|only|[(\[–—:-]|[A-Z0-9])"
)


def chosen(text: str) -> str | None:
    """The letter that a statement begins with, in capitals; None if it begins otherwise.

    >>> [chosen(text) for text in ("B) Rome", "(b)", "option **C**.", "\\\\text{(D)}", "A because it", "a bee", "Rome", "I think")]
    ['B', 'B', 'C', 'D', 'A', None, None, None]
    """
    bare = _WRAPPED.sub("", text[:200]).strip()
    alone = _ALONE.fullmatch(bare)
    if alone:
        return alone[1].upper()
    found = _CHOSEN.match(bare)
    if not found:
        return None
    letter, after, rest = found["letter"], found["after"], found["rest"].lstrip(" *_")
    spaced = not after.strip()
    named = bool(bare[: found.start("letter")].strip(" "))  # "option a", "(a"
    if letter.islower() and spaced and rest and not named:
        return None
    if letter in "AI" and spaced and rest and not named and not _GOES_ON.match(rest):
        return None
    if letter == "I" and spaced and rest and not named:
        return None
    return letter.upper()


_L = r"[(\[\"'`*_]*+(?P<{}>[A-J])[)\]\"'`*_.]*+(?![A-Za-z'’])"
_CORRECT = re.compile(
    r"(?:^|[\n.,:;!?]\s{0,4}|\b(?:option|choice|answer|letter|statement|alternative|so|thus|therefore|hence|that|only|clearly)\s{1,3})"
    r"[*_ ]{0,4}(?:(?i:option|choice|answer)\s{1,3})?" + _L.format("a")
    + r"(?:[:)]?[^\n.]{0,80}?)\s(?i:is|seems|appears(?:\sto\sbe)?|would\sbe|must\sbe)\s(?i:(?:clearly|therefore|thus|indeed|definitely|also|likely)\s)?"
    r"(?i:(?:the|our|my)\s)?(?i:(?:only|most|single)\s)?(?i:correct|right|best|accurate|appropriate|answer|true|plausible|most)(?![A-Za-z])"
    r"(?!\s(?:only\s)?if)"
)  # fmt: skip
_PICKED = re.compile(
    r"(?i:\b(?:choose|chose|select|selected|pick|picked|go(?:ing)?\swith|opt\sfor|choosing|selecting|picking|answering|answer\swith|mark))\s"
    r"(?i:(?:the\s)?(?:option|choice|answer|letter)\s)?" + _L.format("a") + r"(?=\s(?:because|since|as|and|for|due|based|is)\b|[^\w\s]|\s*+$|\s*+\n|\s[^A-Za-z])"
)  # fmt: skip
_IS = re.compile(
    r"(?i:\b(?:correct|right|best|final|appropriate|accurate|my|only|suitable)\s(?:\w{1,12}\s)?(?:option|choice|letter|alternative|response|statement|one|selection)"
    r"(?:\s(?:here|among\sthese|to\s(?:this|the)\squestion))?|\b(?:option|choice|selection)|must\sbe|has\sto\sbe|should\sbe|matches|corresponds\sto"
    r"|points\sto|leaves|leaving|out)"
    r"[*_]{0,3}\s?(?i:is|are|:|=|would\sbe|must\sbe|should\sbe)?[:*_]{0,4}\s{0,3}(?i:(?:therefore|thus|clearly|indeed)\s)?"
    r"(?i:(?:option|choice|letter|answer)\s)?" + _L.format("a") + r"(?!\s(?:is|was|and\s[A-J]\b)\s?(?:incorrect|wrong|not|false))"
)  # fmt: skip


def picked(text: str) -> str | None:
    """The letter of the last sentence that says which option is correct or was chosen.

    >>> [picked(t) for t in ("So option B is correct.", "I choose C because", "The correct option is D", "A is incorrect")]
    ['B', 'C', 'D', None]
    """
    best, at = None, -1
    for pattern in (_CORRECT, _PICKED, _IS):
        for found in pattern.finditer(text):
            if found.start("a") > at and not (found["a"] == "I" and text[found.end("a") : found.end("a") + 1] == " "):
                best, at = found["a"], found.start("a")
    return best
