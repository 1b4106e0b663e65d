"""Choose the kind of answers of a table: from its gold answers, else from its answers or responses.

`math` is chosen for numbers and maths, and when there is no evidence for another kind. Gold answers that are letters,
words, dates or yes/no are never read as `math`. The choice comes with its reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from steelyard.answers.answer_styles import DATE, JSON, LETTER, LONG, MATHS, VALUE, WORDS, YES_NO, final_of, styles_of
from steelyard.answers.extract import KINDS, kind_of
from steelyard.answers.kind import first_match
from steelyard.answers.kind_choice import DEFAULT, Evidence, KindChoice
from steelyard.answers.kinds.code import NO_VALUE, value_of
from steelyard.answers.sentences import kind_of_sentences

NEARLY_ALL = 0.95
OPTIONS = "ABCDEFGHIJ"
MIXED = 0.2  # warn if more than this share of the golds is not maths
KIND_OF = {LETTER: "choice", YES_NO: "yes-no", DATE: "date", JSON: "json", VALUE: "code", WORDS: "text"}
NAMED = {
    LETTER: "letters", YES_NO: "yes or no", DATE: "dates", JSON: "JSON objects", VALUE: "Python values",
    WORDS: "words", MATHS: "numbers or maths",
}  # fmt: skip
TAIL = 20_000  # characters at the end of a question that are searched
_LINES = [re.compile(rf"(?m)^[ \t*]{{0,8}}[(\[]?{letter}[)\].:][ \t*]{{1,8}}\S") for letter in "AB"]
_INLINE = [re.compile(rf"(?<!\S)(?:\({letter}\)|{letter}\))[ \t]{{0,4}}\S") for letter in "AB"]
_YES_NO = re.compile(
    r"\b(?:answer|reply|respond)\b[^\n.?]{0,60}?\byes\b[^\n.?\w]{0,4}(?:or|/)[^\n.?\w]{0,4}no\b", re.IGNORECASE
)


def choose_kind(evidence: Evidence) -> KindChoice:
    """Choose the kind of answers.

    >>> choose_kind(Evidence(["B", "(C)", "e"]))
    KindChoice(kind='choice', reason='3 of 3 golds are letters B to E', doubtful=False, free=None)
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
    choice = decided or KindChoice(DEFAULT, "there are no golds, and the responses show no other kind")
    return choice._replace(free=_free_text(responses)) if choice.kind in ("text", DEFAULT) else choice


def _free_text(responses: Sequence[str]) -> str | None:
    """The kind of free text for responses that are sentences, of which most mark no answer."""
    marked = kind_of("text").marked
    unmarked = [text for text in responses if first_match(marked, text).answer is None]
    return kind_of_sentences(unmarked) if 2 * len(unmarked) > len(responses) else None


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
    values = counts[VALUE] + counts[JSON]  # `text` ignores their quotes and letter case
    return KindChoice("text", f"golds are {listed}", values >= MIXED * len(golds))


def _nearly_all(texts: Sequence[str], noun: str) -> KindChoice | None:
    """The kind of the first style that nearly all texts share."""
    if not texts:
        return None
    styles = [styles_of(text) for text in texts]
    for style, kind in KIND_OF.items():
        count = sum(style in text_styles for text_styles in styles)
        if style == VALUE and 0 < count < len(texts) and count >= (1 - NEARLY_ALL) * len(texts):
            count = sum(value_of(text) is not NO_VALUE for text in texts)  # numbers count as values here
        if count >= NEARLY_ALL * len(texts):
            named = _letters(texts) if style == LETTER else NAMED[style]
            return KindChoice(kind if kind in KINDS else "text", f"{count:,} of {len(texts):,} {noun} are {named}")
    return None


def _default(texts: Sequence[str], noun: str) -> KindChoice:
    """`math`, unless hardly any of the texts are maths."""
    maths = sum(MATHS in styles_of(text) for text in texts)
    if texts and maths < MIXED * len(texts):
        others = f"{len(texts) - maths:,} of {len(texts):,} {noun} are words, letters or dates"
        return KindChoice("text", others)
    return KindChoice(DEFAULT, f"there are no golds, and {maths:,} of {len(texts):,} {noun} are numbers or maths")


def _by_indices(golds: list[str], evidence: Evidence) -> KindChoice | None:
    """`choice`, if golds are option indices and the answers are letters."""
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
    """`choice`, if nearly all responses choose a letter."""
    extract, form = kind_of("choice").extract, kind_of("choice").form
    read = [form(extract(text).answer or "") for text in responses if "\\frac" not in text]
    letters = [answer for answer in read if len(answer) == 1 and answer in OPTIONS]
    if not responses or len(letters) < NEARLY_ALL * len(responses):
        return None
    return KindChoice("choice", f"{len(letters):,} of {len(responses):,} responses choose {_letters(letters)}")


def _by_stated(responses: Sequence[str]) -> KindChoice | None:
    """The kind of the stated answers: those that responses mark, or short responses as a whole."""
    marked = kind_of("text").marked
    stated = [first_match(marked, text).answer or (text if len(text) < LONG else "") for text in responses]
    nonempty = [text.strip(" .*\n") for text in stated if text.strip()]
    if not responses or len(nonempty) < NEARLY_ALL * len(responses):
        return None
    decided = _nearly_all(nonempty, "answers in the responses")
    words = decided is not None and decided.reason.endswith(NAMED[WORDS])
    return None if words and any(char.isdigit() for text in nonempty for char in text) else decided


def _by_numbers(responses: Sequence[str]) -> KindChoice | None:
    """`text`, if hardly any response contains a number or maths."""
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


def kind_from_question(question: str) -> str:
    r"""Return `choice` if the question lists options A and B, `yes-no` if it asks for yes or no, else `math`.

    >>> kind_from_question("Which is the capital?\nA) Paris\nB) Rome"), kind_from_question("Is it (A) red or (B) blue?")
    ('choice', 'choice')
    >>> kind_from_question("A. has 3 apples. B has 4. How many have they?")
    'math'
    """
    text = question[-TAIL:]
    if any(_listed(text, *options) for options in (_LINES, _INLINE)):
        return "choice"
    return "yes-no" if "yes-no" in KINDS and _YES_NO.search(text) else DEFAULT


def _listed(text: str, first: re.Pattern[str], second: re.Pattern[str]) -> bool:
    match = first.search(text)
    return match is not None and second.search(text, match.end()) is not None
