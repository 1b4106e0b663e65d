"""What a response says of an "answer": the final answer, a label ("Answer: .."), or a sentence ("the answer is ..").

The word is looked for from the end, so that the last statement counts: "Final Answer: The final answer is $42$" says 42
once. A sentence about an answer that states none ("this answer is correct") is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

MOST_SAID = 20  # mentions of an answer looked at, from the end
AHEAD, BEHIND = 700, 60  # characters looked at around the word

_STATED = re.compile(
    r"s?+(?![A-Za-z])(?:[ \t]*+\([^()\n]{1,60}\))?"
    r"(?:[ \t]++(?:to|for|of|in)[ \t][^\n.:=]{1,120}?(?=[ \t]++(?:is|are)\b|[ \t]*+:))?"
    r"(?P<link>[ \t*_'\"]*+[:=][ \t]*+|[ \t*_]*+(?<=[ \t*_])(?:is|are|was"
    r"|must\s++be|should\s++be|would\s++be|will\s++be|equals?|comes\s++to|turns\s++out\s++to\s++be|→|->|—|–|-)"
    r"(?![A-Za-z'])[ \t]*+:?+|[ \t*_:]*+\n)[\s*_:>`]*+",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"(?:^|\n)[ \t>*_#\d.)-]{0,12}+(?:the\s++|my\s++|final\s++|correct\s++|short\s++){0,3}$", re.IGNORECASE
)
_FINAL = re.compile(r"\bfinal[\s*_]{1,4}$", re.IGNORECASE)
_OTHER = re.compile(
    r"\b(?:wrong|incorrect|possible|other|another|any|each|every|initial|previous|first|partial|whose|an|student's|no|his|her|their)"
    r"[\s*_]{1,4}$",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:indeed\s++|also\s++|therefore\s++)?(?:correct|right|wrong|incorrect|not\b|in\s++the\s++form|in\s++terms|as\s++follows|given\b(?!\s++by)"
    r"|found\b|obtained\b|based|reasonable|valid|consistent|verified|clear\b|required|supposed|expected|unique\b|below|above|what\b"
    r"|either\b|independent|unclear|unknown|to\s++be\b|going\b|already|still|now\b(?!\s)|one\s++of|how\b|whether|I\s)",
    re.IGNORECASE,
)


class Said(NamedTuple):
    """A statement of an answer: what follows the words, and how it was introduced (final, label or said)."""

    how: str
    text: str


@lru_cache(maxsize=4)  # several rules look at one text
def sayings(text: str) -> tuple[Said, ...]:
    """The statements of an answer, from the end.

    >>> list(sayings("Answer: 12 or so. This answer is correct."))
    [Said(how='label', text='12 or so. This answer is correct.')]
    >>> [said.how for said in sayings("The answer is 3. Final answer: 4.")]
    ['final', 'said']
    """
    return tuple(_sayings(text))


def _sayings(text: str) -> Iterator[Said]:
    lowered = text.replace("İ", "I").lower()  # the one letter that becomes two
    at = len(text)
    for _ in range(MOST_SAID):
        at = lowered.rfind("answer", 0, at)
        if at < 0:
            return
        stated = _STATED.match(text[at + 6 : at + AHEAD])
        if not stated:
            continue
        before, said = text[max(0, at - BEHIND) : at], text[at + 6 + stated.end() : at + AHEAD]
        heading = _HEADING.search(before) is not None
        final = _FINAL.search(before) is not None
        link = stated["link"]
        if ("\n" in link and ":" not in link and not heading) or _OTHER.search(before) or _ABOUT.match(said):
            continue
        labelled = heading and any(mark in link for mark in ":=\n")
        yield Said("final" if final else "label" if labelled else "said", said)


def last_said(text: str, *hows: str) -> str | None:
    """What follows the last statement that was introduced in one of these ways.

    >>> last_said("The answer is 3. Final answer: 4.", "said")
    '3. Final answer: 4.'
    """
    return next((said.text for said in sayings(text) if said.how in hows), None)
