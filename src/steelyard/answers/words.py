"""The words of any text: maximal runs of letters, digits and their marks, in one spelling. Linear time."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

MARKS = range(0x300, 0x10000)  # with marks of ancient scripts, beyond, the pattern would be slow
_JOINERS = "\u200c\u200d"  # within words of Persian and Indian scripts
_SIGNS = "-−$€£¥"
_MINUS = re.compile(r"[-−](?=[$€£¥]?\d)(?<![^\s(\[{*_=:,;~≈\"'“][-−])[$€£¥]?+")
_ZEROS = re.compile(rf"^([{_SIGNS}]*+\d++)\.0++$")
_PIECE = re.compile(r"(?s).{1,480}[^\x00-\x7f]{0,32}")  # ends before an ASCII character, if one is near


def words(text: str) -> list[str]:
    """Return the words in order: composed, compatible forms folded (NFKC), case-folded.

    A number is one word, without separators of thousands, zeros alone after its point, and its currency, but with its
    minus sign: one that follows a space, a bracket or the like, so that ranges and dates have none.

    >>> words("The Café's ﬁrst 1,234 guests (3.5 %), 1,2"), words("हिन्दी भाषा")
    (['the', 'café', 's', 'first', '1234', 'guests', '3.5', '1', '2'], ['हिन्दी', 'भाषा'])
    >>> words("-5, −$5.00, **-5**, 2-5, 1990-05-01")
    ['-5', '-5', '-5', '2', '5', '1990', '05', '01']
    """
    folded = text.lower() if text.isascii() else _folded(text)
    marked = not text.isascii() and _mark().search(folded)
    signed = ("-" in folded or "−" in folded) and _MINUS.search(folded)
    matches = _word("|" + _mark().pattern if marked else "", _MINUS.pattern if signed else "").findall(folded)
    if "," in folded:
        matches = [match.replace(",", "") for match in matches]
    if ".0" in folded:
        matches = [_ZEROS.sub(r"\1", match) for match in matches]
    if signed:
        matches = ["-" + match.lstrip(_SIGNS) if match[0] in _SIGNS else match for match in matches]
    return matches


def _folded(text: str) -> str:
    """Normalise in pieces, because a long run of marks takes quadratic time."""
    composed = "".join(unicodedata.normalize("NFKC", piece) for piece in _PIECE.findall(text))
    return composed.casefold()


@cache
def _word(marks: str, minus: str) -> re.Pattern[str]:
    letters = rf"(?:[^\W_]{marks})++"
    return re.compile(
        rf"{f'(?:{minus})?+' if minus else ''}{letters}(?:(?<=\d)(?:\.(?=\d)|,(?=\d\d\d(?!\d))){letters})*+"
    )


@cache
def _mark() -> re.Pattern[str]:
    """One combining mark, such as a vowel sign, or joiner."""
    marks = (char for char in map(chr, MARKS) if unicodedata.category(char) in ("Mn", "Mc", "Me"))
    return re.compile(f"[{''.join(marks)}{_JOINERS}]")
