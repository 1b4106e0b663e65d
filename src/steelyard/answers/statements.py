r"""Find where a response states its answer ("the final answer is ..", "Answer: .."), and where the statement ends.

The word "answer" is searched from the end, so that the last mention counts: "Final Answer: The final answer is $42$"
gives 42. A sentence about an answer that states none ("this answer is correct") is skipped.

A statement is the maths it begins with ("therefore $12$, because .." states 12); else its words up to the end of the
sentence or to an explanatory clause. A full stop inside brackets, in a number or after an initial ("J. K. Rowling",
"St. Louis") does not end it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from steelyard.answers.numbers import last_number

LONGEST = 500  # characters of a statement that are read
_AROUND = "*_`\"'“”‘’ \t\n"
_LEAD = re.compile(
    r"(?:(?:that|there\s++(?:is|are)|therefore|thus|hence|so|simply|just|indeed|approximately|about|around|roughly|exactly|equal\s++to|given\s++by"
    r"|now|clearly|then|actually|definitely|likely|most\s++likely|probably)\b[,:]?\s++|[:=→]\s*+|->\s*+){1,4}+",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"(?:(?:so|thus|therefore|hence|and)\b,?\s++)?(?:the|my|our)?\s*+(?:final|correct|best|right)?\s*+answer\s*+(?:is|are|:|=)\s*+"
    r"[:*_]*+\s*+",
    re.IGNORECASE,
)
_MATHS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))
_NEXT = re.compile(r"\s*+(?:,\s*+(?:and|or)\b|,|and\b|or\b|\\text\{\s*+(?:and|or)\s*+\})\s*+(?=\$|\\\()")
_CLAUSE = re.compile(
    r",?\s++(?:because|since|which|where|so|as|but|after|when|while|given|assuming|due|who|whose|i\.e\.|meaning)\b"
    r"|,\s++(?:(?:and|or)\s++)?+(?=[a-z]{2,}+)"
)
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}+")
_ABBREVIATED = re.compile(r"(?:^|[\s(.])(?:[A-Z]|(?i:Dr|Mr|Mrs|Ms|St|Mt|vs|Prof|Gen|Col|Lt|Ft))$")
_CURRENCY = re.compile(r"\$\s?\d[\d,]*+(?:\.\d++)?(?![\d\\^_{])")
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


def statement(text: str, *, clauses: bool = True) -> str | None:
    r"""Return the statement at the start of a text that follows "the answer is".

    With `clauses`, an explanatory clause ends it.

    >>> statement("$42$. I hope it is correct."), statement("The answer is 42."), statement("3, 4, and 5, as was shown")
    ('42', '42', '3, 4, and 5')
    >>> statement("St. Louis, Missouri. It is", clauses=False), statement("$5$ or $7$ apples"), statement("$1,200. Yes")
    ('St. Louis, Missouri', '5 or 7', '$1,200')
    """
    rest = text[:LONGEST].strip(_AROUND)
    for _ in range(3):
        again = _AGAIN.match(rest) or _LEAD.match(rest)
        if not again:
            break
        rest = rest[again.end() :].lstrip(_AROUND)
    maths = maths_at_start(rest)
    if maths is not None:
        return maths.strip() or None
    return rest[: _end(rest, clauses)].strip(_AROUND).rstrip(".") or None


def maths_at_start(text: str) -> str | None:
    """Return the maths that a text begins with, and any joined to it by a comma, "and" or "or"; else None."""
    money = _CURRENCY.match(text)
    for opening, closing in _MATHS:
        if not text.startswith(opening):
            continue
        end = _closing(text, closing, len(opening))
        inside = text[len(opening) : end]
        if end < 0 or (money and len(_WORD.findall(inside)) > 2):
            return None if money or end < 0 else inside
        tail = text[end + len(closing) :]
        joined = _NEXT.match(tail)
        more = maths_at_start(tail[joined.end() :]) if joined else None
        if joined and more is not None:
            return f"{inside}{joined[0]}{more}".replace("\\text", "")
        return inside + "%" if tail.startswith(("%", "\\%")) else inside
    return None


def _closing(text: str, closing: str, start: int) -> int:
    """The position of the closing mark; a dollar sign after a backslash is money."""
    end = text.find(closing, start)
    while end > 0 and closing[0] == "$" and text[end - 1] == "\\":
        end = text.find(closing, end + 1)
    return end


def stated_maths(text: str) -> str | None:
    """Return the maths of a statement; of one in many words, the maths or the number in it.

    >>> stated_maths("that there are $12$ of them"), stated_maths("Tom has 5 apples left"), stated_maths("no solution")
    ('12', '5', 'no solution')
    """
    stated = statement(text)
    if stated is None or stated[0] in "0123456789-−+.([{\\$£€":
        return stated
    if len(_WORD.findall(stated)) < 3 and "$" not in stated:
        return stated
    for opening, closing in _MATHS:
        at = stated.find(opening)
        if at >= 0 and not _CURRENCY.match(stated, at):
            inside, closed, _ = stated[at + len(opening) :].partition(closing)
            if closed:
                return inside.strip()
    return last_number(stated) or stated


def _end(text: str, clauses: bool) -> int:
    """The end of the sentence, outside all brackets and maths."""
    end = len(text)
    clause = _CLAUSE.search(text) if clauses else None
    depth, maths, paired = 0, False, text.count("$") % 2 == 0
    for i, char in enumerate(text):
        if char == "\n":
            return i
        if clause and i == clause.start():
            if depth <= 0 and not maths:
                return i
            clause = _CLAUSE.search(text, i + 1)
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "$" and paired:
            maths = not maths
        elif char in ".!?" and depth <= 0 and _ends_here(text, i):
            return i
    return end


def _ends_here(text: str, i: int) -> bool:
    after = text[i + 1 : i + 2]
    if after and not after.isspace() and after not in "*\"”'`<":
        return False
    return text[i] != "." or i + 1 >= len(text.rstrip(_AROUND)) or not _ABBREVIATED.search(text[max(0, i - 8) : i])


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
