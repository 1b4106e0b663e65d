"""yes-no: yes, no or maybe; true and false are other spellings of yes and no.

Marked: a box, the `answer` field, "the answer is ..". Loose: a conclusion ("So, no."), the first word, a judgement
("the claim is false"), words in bold, the last sentence. "No" is an answer only if it does not belong to a noun:
"No evidence supports it" is neither yes nor no.
"""

from __future__ import annotations

import re

from steelyard.answers.boxes_and_fields import boxed, json_field
from steelyard.answers.kind import Kind, NamedRule, final_match
from steelyard.answers.statements import mentions

END = 600  # characters at the end that are searched for a conclusion
_WORDS = {
    "yes": "yes", "true": "yes", "y": "yes", "t": "yes", "yeah": "yes", "yep": "yes", "1": "yes",
    "no": "no", "false": "no", "n": "no", "f": "no", "nope": "no", "0": "no", "maybe": "maybe",
}  # fmt: skip
_MARKS = r"[*_`\"'“”(\[{$\\ ]"
_WORD = r"(?P<word>yes|no|true|false|maybe)(?![\w'’])"
_AFTER = (  # what may follow the word: the end of a phrase, or a new clause; "no evidence" is not an answer
    r"(?=[*_`\"'”)}\]$]{0,6}(?:[.,;:!?\n—–]|\s[-—–]|\s*+$)"
    r"|[ \t]++(?:it|they|he|she|there|this|that|these|those|you|we|i|the|because|since|as)\b)"
)
_LEAD = r"(?:(?:clearly|definitely|simply|probably|certainly|indeed|well|okay|ok),?\s)?"
_BEGINS = re.compile(rf"\s*+{_MARKS}{{0,8}}(?:text\{{)?{_LEAD}{_WORD}{_AFTER}", re.IGNORECASE)
_CONCLUDED = re.compile(
    rf"\b(?:so|thus|therefore|hence|overall|finally|in\ssummary|in\sconclusion|in\sshort|to\ssummarize)"
    rf"(?:,\s|\s)(?:the\s(?:final\s)?(?:answer|response|verdict)\s(?:is|would\sbe)\s)?{_MARKS}{{0,6}}{_WORD}(?=[^\w\s]|\s*+$|\s*+\n)",
    re.IGNORECASE,
)
_JUDGED = re.compile(
    r"\b(?:statement|claim|proposition|assertion|sentence|hypothesis|conclusion|it|this|that)\s(?:is|must\sbe)"
    r"(?:\s(?:therefore|thus|hence|indeed|clearly|definitely|actually|also|in\sfact))?[ *_]{1,4}"
    r"(?P<not>not\s)?[*_]{0,3}(?P<word>true|false)(?!\w)",
    re.IGNORECASE,
)
_BOLD = re.compile(rf"\*\*\s?{_WORD}[^*\n]{{0,60}}\*\*", re.IGNORECASE)
_LAST = re.compile(rf"(?:^|[.!?:;\n])\s*+{_MARKS}{{0,6}}{_WORD}[*_`\"'”)\]}}.!\s]{{0,6}}$", re.IGNORECASE)
_ALONE = re.compile(r"[\W_]{0,12}(?P<word>[A-Za-z]{1,5}|[01])[\W_]{0,12}")
_OPPOSITE = {"yes": "no", "no": "yes"}


def yes_no_form(answer: str) -> str:
    """Return yes, no or maybe; the empty string for anything else.

    >>> yes_no_form("True"), yes_no_form("no."), yes_no_form("Yes, it is"), yes_no_form("5")
    ('yes', 'no', 'yes', '')
    """
    return _whole(answer) or ""


def _whole(text: str) -> str | None:
    alone = _ALONE.fullmatch(text[:40])
    if alone:
        return _WORDS.get(alone["word"].lower())
    return _meaning(_BEGINS.match(text))


def _meaning(match: re.Match[str] | None) -> str | None:
    return _WORDS[match["word"].lower()] if match else None


def _stated(text: str) -> str | None:
    """The yes or no at the start of the last mention of the answer."""
    return next((word for mention in mentions(text) if (word := _meaning(_BEGINS.match(mention.text)))), None)


def _enclosed(text: str | None) -> str | None:
    return text if not text else _whole(text)


def _judged(text: str) -> str | None:
    """The judgement of a statement: "the claim is not true"."""
    match = final_match(_JUDGED, text[-END:])
    word = _meaning(match)
    return _OPPOSITE[word] if match and word and match["not"] else word


def _alone(text: str) -> str | None:
    return _whole(text) if _ALONE.fullmatch(text.strip()[:40]) else None


MARKED: tuple[NamedRule, ...] = (
    ("boxed", lambda text: _enclosed(boxed(text))), ("json", lambda text: _enclosed(json_field(text))),
    ("said", _stated),
)  # fmt: skip
LOOSE: tuple[NamedRule, ...] = (
    ("alone", _alone), ("concluded", lambda text: _meaning(final_match(_CONCLUDED, text[-END:]))),
    ("first", lambda text: _meaning(_BEGINS.match(text))), ("judged", _judged),
    ("bold", lambda text: _meaning(final_match(_BOLD, text[-END:]))),
    ("last", lambda text: _meaning(_LAST.search(text.rstrip()[-60:]))),
)  # fmt: skip
KIND = Kind("yes-no", MARKED, LOOSE, _whole, yes_no_form, listed=True)
