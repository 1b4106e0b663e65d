"""Find where a response states its answer: "the final answer is ..", a label ("Answer: .."), or "the answer is ..".

The word "answer" is searched from the end, so that the last mention counts: "Final Answer: The final answer is $42$"
gives 42. A sentence about an answer that states none ("this answer is correct") is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

MAX_MENTIONS = 20  # occurrences of the word that are tried, from the end
AHEAD, BEHIND = 700, 60  # characters of context after and before the word

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


class Mention(NamedTuple):
    """A mention of the answer: the cue that introduces it (final, label or said), and the text after it."""

    cue: str
    text: str


@lru_cache(maxsize=4)  # several rules look at one text
def mentions(text: str) -> tuple[Mention, ...]:
    """Return the mentions of the answer, from the end.

    >>> list(mentions("Answer: 12 or so. This answer is correct."))
    [Mention(cue='label', text='12 or so. This answer is correct.')]
    >>> [mention.cue for mention in mentions("The answer is 3. Final answer: 4.")]
    ['final', 'said']
    """
    return tuple(_mentions(text))


def _mentions(text: str) -> Iterator[Mention]:
    lowered = text.replace("İ", "I").lower()  # the only letter whose lower case has two characters
    at = len(text)
    for _ in range(MAX_MENTIONS):
        at = lowered.rfind("answer", 0, at)
        if at < 0:
            return
        stated = _STATED.match(text[at + 6 : at + AHEAD])
        if not stated:
            continue
        before, after = text[max(0, at - BEHIND) : at], text[at + 6 + stated.end() : at + AHEAD]
        heading = _HEADING.search(before) is not None
        final = _FINAL.search(before) is not None
        link = stated["link"]
        if ("\n" in link and ":" not in link and not heading) or _OTHER.search(before) or _ABOUT.match(after):
            continue
        labelled = heading and any(mark in link for mark in ":=\n")
        yield Mention("final" if final else "label" if labelled else "said", after)


def last_mention(text: str, *cues: str) -> str | None:
    """Return the text after the last mention with one of these cues, or None.

    >>> last_mention("The answer is 3. Final answer: 4.", "said")
    '3. Final answer: 4.'
    """
    return next((mention.text for mention in mentions(text) if mention.cue in cues), None)
