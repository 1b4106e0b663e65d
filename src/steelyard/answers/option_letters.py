"""The letter of an option, in the words that choose it: "B", "B) Rome", "option b is correct", "therefore, B".

Articles and pronouns do not count: "the answer is a bee" and "Answer: I think so" choose nothing. Several options,
"A and C", are a separate answer, "A,C", which is neither A nor C.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
_ALSO = re.compile(
    r"(?:\s*+,?+\s*+(?:and|&)\s++|\s*+,\s*+)(?i:" + _OPTION + r")[(\[\"'`*_]*+([A-J])[)\]\"'`*_]*+"
    r"(?=\s*+(?:$|[.,;:&]|(?:and|are|both|were)\b))"
)
_REFUSED = re.compile(r"\s*+(?:are|were)\s++(?:(?:both|all|also|clearly)\s++)?(?:not|wrong|incorrect|false)\b")
LETTERS = r"^[A-J](?:,[A-J])*$"  # the form of a choice of one letter or several
_MARKS = r"[(\[\"'`*_]{0,4}"
_ENDS = r"(?=[)\]\"'`*_]{0,4}(?:[.,;:!?)]|\s*+$|\s*+\n))"
_NOUN = r"(?:option|choice|letter|alternative|statement)s?"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?i:{_NOUN})\s{{1,3}}{_MARKS}(?P<letter>[b-hj])(?![\w'’=-])",
        rf"\b(?i:{_NOUN})\s{{1,3}}{_MARKS}(?P<letter>a)(?:{_ENDS}|(?=\s(?:is|was|seems|appears|must|would|because|since)\b))",
        r"(?<![\w)])\((?P<letter>[a-hj])\)(?![\w(])",
        rf"(?i:\b(?:choose|chose|select(?:ed)?|pick(?:ed)?|go(?:ing)?\swith|opt\sfor|answer\swith|it\sis|it's|it\smust\sbe"
        rf"|(?:therefore|thus|hence|so),?))\s{_MARKS}(?P<letter>[a-hj]){_ENDS}",
        rf"(?i:\b(?:correct|right|best|final|my|only|closest)\s(?:{_NOUN}|one|selection)\s?(?:is|would\sbe|must\sbe|:)):?\s{{0,3}}"
        rf"{_MARKS}(?P<letter>[a-hj]){_ENDS}",
    )
)
_LONE_LOWER = re.compile(r"(?<![A-Za-z])[a-hj](?![A-Za-z])")
_L = r"[(\[\"'`*_]*+(?P<letter>[A-J])[)\]\"'`*_]*+(?![A-Za-z'’])"
_BEFORE = (  # what may precede an option that is called correct
    r"(?:^|[\n.,:;!?]\s{0,4}|\b(?i:option|choice|answer|letter|statement|alternative|so|thus|therefore|hence|that|only"
    r"|clearly|and|then)\s{1,3})[*_ ]{0,4}(?:(?i:option|choice|answer)\s{1,3})?"
)
_CORRECT = re.compile(
    _BEFORE + _L + r"(?P<between>[:)]?(?:[^\n.;]|\.(?=\S)){0,80}?)\s(?:(?i:remains|is\sleft)(?![A-Za-z])"
    r"|(?i:is|seems|appears|would\sbe|must\sbe)\s(?i:(?:clearly|therefore|thus|indeed|definitely|also|likely|to\sbe)\s)?"
    r"(?i:(?:the|our|my)\s)?(?i:(?:only|most|single)\s)?"
    r"(?i:correct|right|best|accurate|appropriate|answer|true|plausible|most)(?![A-Za-z])(?!\s(?:only\s)?if))"
)
_NEXT = (
    r"(?:(?<=[)\]\"'`*_])"
    r"|(?=\s(?:because|since|as|and|for|due|based|is|here|with)\b|[^\w\s]|\s*+$|\s*+\n|\s[^A-Za-z]))"
)
_PICKED = re.compile(
    r"(?i:\b(?:choose|chose|select(?:ed)?|pick(?:ed)?|go(?:ing)?\swith|opt\sfor|choosing|selecting|picking|answer\swith|mark))"
    r"\s(?i:(?:the\s)?(?:option|choice|answer|letter)\s)?" + _L + _NEXT
)
_NAMED = (  # nouns for the option
    r"(?i:\b(?:correct|right|best|final|appropriate|accurate|my|only|suitable|closest|plausible|likely|matching)\s"
    r"(?:\w{1,12}\s)?(?:option|choice|letter|alternative|response|statement|one|selection)s?(?:\s\w{2,9}){0,4}?)"
    r"[*_]{0,3}(?:\s(?i:is|are|would\sbe|must\sbe|should\sbe|seems)|[ ]?[:=])[:*_]{0,4}"
)
_LEFT = (  # phrases that leave one option
    r"(?i:\b(?:must\sbe|has\sto\sbe|have\sto\sbe|should\sbe|matches|match|corresponds\sto|points\sto|leaves|leaving|leads\s"
    r"(?:us\s)?to|agrees\swith|left\swith|given\sby|(?:option|choice)[ ](?:is|=)|(?:option|choice):)\b)[:*_]{0,4}"
)
_IS = re.compile(
    "(?:" + _NAMED + "|" + _LEFT + r")\s{0,3}(?i:(?:is|therefore|thus|clearly|indeed|only)\s)?"
    r"(?i:(?:the\s)?(?:option|choice|letter|answer)\s)?" + _L + _NEXT
)
_CONCLUDED = re.compile(  # "therefore, B", "not A but C", "Solution: B": the phrase ends with the letter
    r"(?:(?i:\b(?:therefore|thus|hence|so|consequently|it\sis|it['’]s|but)),?|(?:^|\n)[ \t*_#]{0,6}"
    r"(?i:correct|solution|selection|conclusion|verdict|choice|option)[*_]{0,3}\s?:)[*_]{0,3}\s"
    r"(?i:(?:it['’]s|it\sis|it\smust\sbe|only)\s)?(?i:(?:the\s)?(?:option|choice|letter|answer)\s)?" + _L
    + r"(?=[.!;)]|,(?!\s?(?:and\s|or\s)?[A-J]\b)|\s*+$|\s*+\n|:\s)"
)  # fmt: skip
# how far a match extends before and after its letter
_REACH = {_CORRECT: (60, 200), _PICKED: (60, 30), _IS: (140, 30), _CONCLUDED: (60, 30)}
_LONE = re.compile(r"(?<![A-Za-z])[A-J](?![A-Za-z])")
_REJECTED = re.compile(r"\b(?:not|wrong|incorrect|false|cannot|isn['’]t)\b|\b[A-J][:)]", re.IGNORECASE)
_JUDGED = re.compile(
    r"[)\]\"'`*_.:,;]|\s(?:is|seems|appears|must|would|because|since|as)\b|\s*+$|\s*+\n", re.IGNORECASE
)
_OPENED = "([\"'`*_"
_CLOSING = ")]\"'`*_"


def _with_others(text: str, first: str, at: int) -> str:
    """The first letter and those named with it, in alphabetical order."""
    letters = {first}
    while at < len(text) and text[at] in _CLOSING:
        at += 1
    while also := _ALSO.match(text, at):
        letters.add(also[1])
        at = also.end()
    return first if _REFUSED.match(text, at) else ",".join(sorted(letters))


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


def with_capitals(text: str) -> str:
    """Return the text, of the same length, with every letter that names an option capitalized.

    A lower-case letter names an option after a word such as "option", in brackets, or at the end of a phrase that makes
    a choice. Anywhere else it may be an article, a variable or a unit, and is left alone.

    >>> with_capitals("Option d is correct"), with_capitals("I choose (a)"), with_capitals("a bee has a choice")
    ('Option D is correct', 'I choose (A)', 'a bee has a choice')
    """
    if not _LONE_LOWER.search(text):
        return text
    positions = {match.start("letter") for pattern in _PATTERNS for match in pattern.finditer(text)}
    if not positions:
        return text
    letters = list(text)
    for position in positions:
        letters[position] = letters[position].upper()
    return "".join(letters)


def _lone_letters(text: str) -> list[tuple[int, int]]:
    """Spans of the single letters that may be chosen, including the marks around them."""
    spans = []
    for lone in _LONE.finditer(text):
        first, last = lone.span()
        while first > 0 and text[first - 1] in _OPENED:
            first -= 1
        while last < len(text) and text[last] in _CLOSING:
            last += 1
        spans.append((first, last))
    return spans


def _windows(text: str, letters: list[tuple[int, int]], before: int, after: int) -> Iterator[tuple[int, int]]:
    """The windows around the letters in which a match is possible."""
    start = end = -1
    for first, last in letters:
        if first - before > end:
            if end >= 0:
                yield start, end
            start = max(0, first - before)
        end = max(end, last + after)
        while end < len(text) and text[end - 1].isspace():  # it would look like the end of the text
            end += 1
    if end >= 0:
        yield start, end


def picked(text: str) -> str | None:
    """Return the letter from the last sentence that calls an option correct or chooses one.

    >>> examples = ("So option B is correct.", "I choose C because", "The correct option is D", "A is incorrect")
    >>> [picked(text) for text in examples], picked("A is wrong. Therefore, D"), picked("not A but C.")
    (['B', 'C', 'D', None], 'D', 'C')
    """
    best, at = None, -1
    letters = _lone_letters(text)
    for pattern, reach in _REACH.items():
        windows = _windows(text, letters, *reach)
        for match in (match for window in windows for match in _matches(pattern, text, *window)):
            article = match["letter"] in "AI" and not _JUDGED.match(text, match.end("letter"))  # "A" may be an article
            if match.start("letter") > at and not article:
                best, at = match["letter"], match.start("letter")
    return best


def _matches(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The matches of a pattern, except rejections: "A: Rome is wrong, B: Paris is right" does not choose A."""
    while match := pattern.search(text, start, end):
        if _REJECTED.search(match.groupdict().get("between", "")):
            start = match.end("letter")
        else:
            yield match
            start = match.end()
