"""The letter of an option in the words that choose it: "B", "(b)", "B) Rome", "option B is correct", "I choose B".

An article and a pronoun are no letters: "the answer is a bee" and "Answer: I think so" choose nothing.
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


def chosen(text: str) -> str | None:
    """The letter that a statement begins with, in capitals; None if it begins otherwise.

    >>> [chosen(text) for text in ("B) Rome", "(b)", "option **C**.", "\\\\text{(D)}", "A because it")]
    ['B', 'B', 'C', 'D', 'A']
    >>> [chosen(text) for text in ("a bee", "Rome", "I think", "D-glucose", "E = mc^2", "A's")]
    [None, None, None, None, None, None]
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


_L = r"[(\[\"'`*_]*+(?P<letter>[A-J])[)\]\"'`*_]*+(?![A-Za-z'’])"
_BEFORE = (  # what may stand before an option that is said to be correct
    r"(?:^|[\n.,:;!?]\s{0,4}|\b(?i:option|choice|answer|letter|statement|alternative|so|thus|therefore|hence|that|only"
    r"|clearly|and|then)\s{1,3})[*_ ]{0,4}(?:(?i:option|choice|answer)\s{1,3})?"
)
_CORRECT = re.compile(
    _BEFORE + _L + r"(?:[:)]?(?:[^\n.]|\.(?=\S)){0,80}?)\s(?i:is|seems|appears|would\sbe|must\sbe)\s"
    r"(?i:(?:clearly|therefore|thus|indeed|definitely|also|likely|to\sbe)\s)?(?i:(?:the|our|my)\s)?(?i:(?:only|most|single)\s)?"
    r"(?i:correct|right|best|accurate|appropriate|answer|true|plausible|most)(?![A-Za-z])(?!\s(?:only\s)?if)"
)
_NEXT = r"(?=\s(?:because|since|as|and|for|due|based|is|here|with)\b|[^\w\s]|\s*+$|\s*+\n|\s[^A-Za-z])"
_PICKED = re.compile(
    r"(?i:\b(?:choose|chose|select(?:ed)?|pick(?:ed)?|go(?:ing)?\swith|opt\sfor|choosing|selecting|picking|answer\swith|mark))"
    r"\s(?i:(?:the\s)?(?:option|choice|answer|letter)\s)?" + _L + _NEXT
)
_NAMED = (  # what an option is said to be
    r"(?i:\b(?:correct|right|best|final|appropriate|accurate|my|only|suitable|closest|plausible|likely|matching)\s"
    r"(?:\w{1,12}\s)?(?:option|choice|letter|alternative|response|statement|one|selection)s?(?:\s\w{2,9}){0,4}?)"
    r"[*_]{0,3}(?:\s(?i:is|are|would\sbe|must\sbe|should\sbe|seems)|[ ]?[:=])[:*_]{0,4}"
)
_LEFT = (  # what leaves one option
    r"(?i:\b(?:must\sbe|has\sto\sbe|have\sto\sbe|should\sbe|matches|match|corresponds\sto|points\sto|leaves|leaving|leads\s"
    r"(?:us\s)?to|agrees\swith|left\swith|given\sby|(?:option|choice)[ ](?:is|=)|(?:option|choice):)\b)[:*_]{0,4}"
)
_IS = re.compile(
    "(?:" + _NAMED + "|" + _LEFT + r")\s{0,3}(?i:(?:is|therefore|thus|clearly|indeed|only)\s)?"
    r"(?i:(?:the\s)?(?:option|choice|letter|answer)\s)?" + _L + _NEXT
)


def picked(text: str) -> str | None:
    """The letter of the last sentence that says which option is correct or was chosen.

    >>> told = ("So option B is correct.", "I choose C because", "The correct option is D", "A is incorrect")
    >>> [picked(text) for text in told]
    ['B', 'C', 'D', None]
    """
    best, at = None, -1
    for pattern in (_CORRECT, _PICKED, _IS):
        for found in pattern.finditer(text):
            word = found["letter"] in "AI" and not _JUDGED.match(text, found.end("letter"))  # "A" may be an article
            if found.start("letter") > at and not word:
                best, at = found["letter"], found.start("letter")
    return best


_JUDGED = re.compile(
    r"[)\]\"'`*_.:,;]|\s(?:is|seems|appears|must|would|because|since|as)\b|\s*+$|\s*+\n", re.IGNORECASE
)
