r"""Where a statement begins and ends: "therefore $12$, because .." says 12.

The maths it begins with; else its words up to the end of the sentence or to a clause that explains. A full stop inside
brackets, in a number or after an initial ("J. K. Rowling", "St. Louis") ends nothing.
"""

from __future__ import annotations

import re

from steelyard.answers.numbers import last_number

LONGEST = 500  # characters of a statement that are looked at
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
    r"|,\s++(?:(?:and|or)\s++)?+(?=[a-z]{2,}+)",
)
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}+")
_ABBREVIATED = re.compile(r"(?:^|[\s(.])(?:[A-Z]|(?i:Dr|Mr|Mrs|Ms|St|Mt|vs|Prof|Gen|Col|Lt|Ft))$")
_CURRENCY = re.compile(r"\$\s?\d[\d,]*+(?:\.\d++)?(?![\d\\^_{])")


def statement(text: str, *, clauses: bool = True) -> str | None:
    r"""What a text that follows "the answer is" says; `clauses`: a clause that explains ends it.

    >>> statement("$42$. I hope it is correct."), statement("The answer is 42."), statement("3, 4, and 5, as was shown")
    ('42', '42', '3, 4, and 5')
    >>> statement("St. Louis, Missouri. It is", clauses=False), statement("$5$ or $7$ apples"), statement("$1,200. Yes")
    ('St. Louis, Missouri', '5 or 7', '$1,200')
    """
    said = text[:LONGEST].strip(_AROUND)
    for _ in range(3):
        again = _AGAIN.match(said) or _LEAD.match(said)
        if not again:
            break
        said = said[again.end() :].lstrip(_AROUND)
    maths = maths_at_start(said)
    if maths is not None:
        return maths.strip() or None
    return said[: _end(said, clauses)].strip(_AROUND).rstrip(".") or None


def maths_at_start(said: str) -> str | None:
    """The maths a text begins with, and those joined to it by a comma, "and" or "or"; None if it begins otherwise."""
    money = _CURRENCY.match(said)
    for opening, closing in _MATHS:
        if not said.startswith(opening):
            continue
        end = _closing(said, closing, len(opening))
        inside = said[len(opening) : end]
        if end < 0 or (money and len(_WORD.findall(inside)) > 2):
            return None if money or end < 0 else inside
        rest = said[end + len(closing) :]
        joined = _NEXT.match(rest)
        more = maths_at_start(rest[joined.end() :]) if joined else None
        if joined and more is not None:
            return f"{inside}{joined[0]}{more}".replace("\\text", "")
        return inside + "%" if rest.startswith(("%", "\\%")) else inside
    return None


def _closing(said: str, closing: str, start: int) -> int:
    """Where the maths is closed: a dollar after a backslash is money."""
    end = said.find(closing, start)
    while end > 0 and closing[0] == "$" and said[end - 1] == "\\":
        end = said.find(closing, end + 1)
    return end


def maths_said(text: str) -> str | None:
    """A statement of maths: one in many words is worth the maths, or the number, in it.

    >>> maths_said("that there are $12$ of them"), maths_said("Tom has 5 apples left"), maths_said("no solution")
    ('12', '5', 'no solution')
    """
    said = statement(text)
    if said is None or said[0] in "0123456789-−+.([{\\$£€":
        return said
    if len(_WORD.findall(said)) < 3 and "$" not in said:
        return said
    for opening, closing in _MATHS:
        at = said.find(opening)
        if at >= 0 and not _CURRENCY.match(said, at):
            inside, closed, _ = said[at + len(opening) :].partition(closing)
            if closed:
                return inside.strip()
    return last_number(said) or said


def _end(said: str, clauses: bool) -> int:
    """Where the sentence ends, outside all brackets and maths."""
    end = len(said)
    clause = _CLAUSE.search(said) if clauses else None
    depth, maths, paired = 0, False, said.count("$") % 2 == 0
    for i, char in enumerate(said):
        if char == "\n":
            return i
        if clause and i == clause.start():
            if depth <= 0 and not maths:
                return i
            clause = _CLAUSE.search(said, i + 1)
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "$" and paired:
            maths = not maths
        elif char in ".!?" and depth <= 0 and _ends_here(said, i):
            return i
    return end


def _ends_here(said: str, i: int) -> bool:
    after = said[i + 1 : i + 2]
    if after and not after.isspace() and after not in "*\"”'`<":
        return False
    return said[i] != "." or i + 1 >= len(said.rstrip(_AROUND)) or not _ABBREVIATED.search(said[max(0, i - 8) : i])
