"""The one place that decides the kind of answers of a table: by its golds, else by its answers or responses.

Math is chosen for numbers and maths, and where nothing shows another kind. Golds that are letters, words, dates or
yes and no are never read as math. The reason is given in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.answers.answer_styles import (
    DATE,
    JSON,
    LETTER,
    LONG,
    MATHS,
    VALUE,
    WORDS,
    YES_NO,
    final_of,
    is_python,
    styles_of,
)
from steelyard.answers.extract import KINDS, kind_of
from steelyard.answers.kind import first_found

NEARLY_ALL = 0.95
OPTIONS = "ABCDEFGHIJ"
MIXED = 0.2  # golds of another style than maths that are worth a warning
DEFAULT = "math"
KIND_OF = {LETTER: "choice", YES_NO: "yes-no", DATE: "date", JSON: "json", VALUE: "code", WORDS: "text"}
NAMED = {
    LETTER: "letters", YES_NO: "yes or no", DATE: "dates", JSON: "JSON objects", VALUE: "Python values",
    WORDS: "words", MATHS: "numbers or maths",
}  # fmt: skip


class KindChoice(NamedTuple):
    """The kind that was decided on, and why; `doubtful` where part of the table may be of another kind."""

    kind: str
    reason: str
    doubtful: bool = False


@dataclass(frozen=True)
class Evidence:
    """What a table shows of its kind: one gold per question, and some of its answers or responses.

    The latter are fetched only where the golds do not settle it.
    """

    golds: Sequence[str] = ()
    answers: Callable[[], Sequence[str]] | None = None
    responses: Callable[[], Sequence[str]] | None = None


def choose_kind(evidence: Evidence) -> KindChoice:
    """Decide the kind of answers.

    >>> choose_kind(Evidence(["B", "(C)", "e"]))
    KindChoice(kind='choice', reason='3 of 3 golds are letters B to E', doubtful=False)
    >>> choose_kind(Evidence(["12", "1/2", "x^2"])).kind, choose_kind(Evidence(answers=lambda: ["Rome", "Oslo"])).kind
    ('math', 'text')
    >>> choose_kind(Evidence(responses=lambda: ["The answer is (B).", "I choose B"])).reason
    '2 of 2 responses choose letter B'
    """
    if evidence.golds:
        return _by_golds([final_of(gold) for gold in evidence.golds], evidence)
    if evidence.answers is not None:
        answers = evidence.answers()
        return _nearly_all(answers, "answers") or _default(answers, "answers")
    responses = evidence.responses() if evidence.responses is not None else ()
    decided = _by_letters(responses) or _by_stated(responses) or _by_numbers(responses)
    return decided or KindChoice(DEFAULT, "there are no golds, and the responses show no other kind")


def _by_golds(golds: list[str], evidence: Evidence) -> KindChoice:
    if indices := _by_indices(golds, evidence):
        return indices
    if decided := _nearly_all(golds, "golds"):
        return decided
    counts = Counter(_main(styles_of(gold)) for gold in golds)
    listed = ", ".join(f"{count:,} {NAMED[style]}" for style, count in counts.most_common())
    if counts[MATHS] >= len(golds) / 2:
        few = counts[MATHS] > (1 - MIXED) * len(golds)
        reason = f"{counts[MATHS]:,} of {len(golds):,} golds are numbers or maths" if few else f"golds are {listed}"
        return KindChoice(DEFAULT, reason, not few)
    values = counts[VALUE] + counts[JSON]  # which text compares without their quotes and letter case
    return KindChoice("text", f"golds are {listed}", values >= MIXED * len(golds))


def _nearly_all(texts: Sequence[str], what: str) -> KindChoice | None:
    """The kind of the first style that nearly all texts have."""
    if not texts:
        return None
    styles = [styles_of(text) for text in texts]
    for style, kind in KIND_OF.items():
        count = sum(style in each for each in styles)
        if style == VALUE and 0 < count < len(texts) and count >= (1 - NEARLY_ALL) * len(texts):
            count = sum(map(is_python, texts))  # numbers among other values of Python are values too
        if count >= NEARLY_ALL * len(texts):
            named = _letters(texts) if style == LETTER else NAMED[style]
            return KindChoice(kind if kind in KINDS else "text", f"{count:,} of {len(texts):,} {what} are {named}")
    return None


def _default(texts: Sequence[str], what: str) -> KindChoice:
    """Math, unless hardly any of the texts is maths."""
    maths = sum(MATHS in styles_of(text) for text in texts)
    if texts and maths < MIXED * len(texts):
        others = f"{len(texts) - maths:,} of {len(texts):,} {what} are words, letters or dates"
        return KindChoice("text", others)
    return KindChoice(DEFAULT, f"there are no golds, and {maths:,} of {len(texts):,} {what} are numbers or maths")


def _by_indices(golds: list[str], evidence: Evidence) -> KindChoice | None:
    """Choice, where golds are the places of options and what was answered are letters."""
    if not all(gold.isdigit() and len(gold) == 1 for gold in golds):
        return None
    texts = evidence.answers() if evidence.answers else ()
    letters = (
        _nearly_all(texts, "answers") if texts else _by_letters(evidence.responses() if evidence.responses else ())
    )
    if letters is None or letters.kind != KIND_OF[LETTER]:
        return None
    return KindChoice(letters.kind, f"golds are the digits {min(golds)} to {max(golds)}, and {letters.reason}")


def _by_letters(responses: Sequence[str]) -> KindChoice | None:
    """Choice, where nearly all responses choose a letter."""
    extract, form = kind_of("choice").extract, kind_of("choice").form
    read = [form(extract(text).answer or "") for text in responses if "\\frac" not in text]
    letters = [each for each in read if len(each) == 1 and each in OPTIONS]
    if not responses or len(letters) < NEARLY_ALL * len(responses):
        return None
    return KindChoice("choice", f"{len(letters):,} of {len(responses):,} responses choose {_letters(letters)}")


def _by_stated(responses: Sequence[str]) -> KindChoice | None:
    """The kind of what nearly all responses state as their answer: marked as such, or all that they say."""
    marked = kind_of("text").marked
    stated = [first_found(marked, text).answer or (text if len(text) < LONG else "") for text in responses]
    known = [text.strip(" .*\n") for text in stated if text.strip()]
    if not responses or len(known) < NEARLY_ALL * len(responses):
        return None
    decided = _nearly_all(known, "answers in the responses")
    words = decided is not None and decided.reason.endswith(NAMED[WORDS])
    return None if words and any(char.isdigit() for text in known for char in text) else decided


def _by_numbers(responses: Sequence[str]) -> KindChoice | None:
    """Text, where hardly any response has a number or maths in it."""
    plain = [text for text in responses if "\\" not in text and not any(char.isdigit() for char in text)]
    if not responses or len(plain) <= (1 - MIXED) * len(responses):
        return None
    return KindChoice("text", f"{len(plain):,} of {len(responses):,} responses contain no number")


def _letters(texts: Sequence[str]) -> str:
    letters = sorted(final_of(text).strip(" ([$").upper()[:1] for text in texts if LETTER in styles_of(text))
    letters = [letter for letter in letters if letter in OPTIONS] or list(OPTIONS)
    return f"letters {letters[0]} to {letters[-1]}" if letters[0] != letters[-1] else f"letter {letters[0]}"


def _main(styles: frozenset[str]) -> str:
    return next((style for style in KIND_OF if style in styles), MATHS)
