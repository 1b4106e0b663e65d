"""Whether a response declines to answer: "I don't have reliable information about ..", without an answer after it.

From the text alone, in English, and conservative: the response begins with a phrase that declines or asks for
clarification, and nothing in it looks like an attempt.
"""

from __future__ import annotations

import re

BEGINNING = 150  # characters in which a response that declines says so
SCANNED = 4000  # characters that are searched for an attempt
_SAME = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"} | dict.fromkeys("\n\t\r\u00a0\u202f", " "))
_DECLINES = re.compile(
    r"\bi ?(?:don't|do not|can't|cannot|can not|couldn't|could not"
    r"|(?:(?:am|'m|was) (?:not able|unable)|wasn't able) to) (?:[a-z]{1,12}ly ){0,2}"
    r"(?:have|know|recall|find|locate|confirm|verify|provide|determine|identify|answer|give|access|state|specify|tell"
    r"|remember|say|be (?:certain|sure))\b"
    r"|\bi(?:'m| am) (?:not (?:[a-z]{1,12}ly )?|un)(?:certain|sure|aware|familiar|confident)\b"
    r"|\bi (?:have no|lack) (?:the |any )?(?:[a-z]{1,12} )?(?:information|knowledge|record|data|details)\b"
    r"|\b(?:would you like|do you want) me to (?:look|search|check|browse|fetch|find)\b"
    r"|\b(?:could|can) you (?:please )?(?:specify|clarify|tell me|confirm|provide|share)\b|\bdo you mean\b"
)
_STATED = re.compile(r"[.!?]\s|[\"“”*#`]|\bnot sure why\b")  # before it: a sentence, a title, bold text or code
_ANSWERS = ("no, ", "yes, ")
_ATTEMPTS = re.compile(
    r"\bi (?:[a-z]{1,12} )?(?:believe|think|guess|suspect|estimate)\b|\bi(?: would|'d) (?:say|guess)\b"
    r"|\bmy (?:best )?(?:guess|estimate)\b|\b(?:most likely|probably|presumably|perhaps|approximately|roughly)\b"
    r"|\baccording to\b|\b(?:indicating|confirming) that\b|\bthe (?:correct )?answer (?:is|was)\b"
    r"|\bbut (?:it|he|she|they|that) (?:is|was|were|may|might|could)\b|\b(?:it|he|she|they) (?:is|was|were) \*\*"
)


def abstains(text: str) -> bool:
    """Whether a response declines to answer and states no answer.

    >>> abstains("I don't have reliable information about his place of birth.")
    True
    >>> abstains("I'm not certain, but I believe it was **Paris**.")
    False
    """
    plain = text[:SCANNED].translate(_SAME).casefold().lstrip()
    declines = _DECLINES.search(plain, 0, BEGINNING)
    if declines is None or _STATED.search(plain, 0, declines.start()) or plain.startswith(_ANSWERS):
        return False
    return _ATTEMPTS.search(plain) is None
