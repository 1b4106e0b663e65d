"""Short answers inside sentences: "It was Albert Einstein." is "Albert Einstein" if another response is that name.

For the kind `text`, the short answers to a question, and its gold answer, are names to look for in the answers that are
full sentences. A sentence stands for a name if it contains no other name and no negation, and the name is not part of
a longer name ("New York City") or of a list ("Einstein and Bohr"). Any other sentence is an answer of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from steelyard.answers.kinds.text import text_form
from steelyard.voting.pools.arrays import Bools, Ints

TEXT = "text"  # the kind of answers this applies to
MAX_WORDS = 6  # per name
LONGEST = 200  # characters of a sentence; a longer one says more than its answer
MAX_NAMES = 50  # per question
_VERB = re.compile(
    r"(?i:\b(?:is|was|are|were|be|been|has|had|have|did|does|would|will|could|should|must|think|believe|wrote|won|called"
    r"|named|known|became|founded|invented|discovered|developed|led|made|created|directed|played|by)\b"
    r"|\b(?:it|that|he|she)['’]s\b)"
)
_NEGATED = re.compile(
    r"(?i:\b(?:not|never|no|neither|nor|nobody|none|unlike|except|instead|rather|wrong|incorrect|unsure|unclear|unknown|maybe"
    r"|perhaps|either|cannot)\b|n['’]t\b|\?)"
)
_BEFORE = frozenset(  # words that may be next to a name without being part of it
    (
        "is", "was", "are", "were", "be", "been", "by", "as", "called", "named", "to", "in", "of", "on", "at", "from",
        "that", "for", "with", "its", "think", "believe", "would", "likely", "probably", "actually", "became", "who",
        "which", "because",
    )
)  # fmt: skip
_JOINS = frozenset(("and", "or", "&", "nor", "but", "plus", "versus", "vs"))
_EMPTY = frozenset(("yes", "no", "it", "he", "she", "they", "this", "that", "one", "none", "unknown", "true", "false"))


class Word(NamedTuple):
    """A word of a sentence: its `text` form, whether it is capitalized, and whether punctuation ends it."""

    form: str
    capital: bool
    ends: bool


def name_in(sentence: str, names: Iterable[str]) -> str | None:
    """Return the one name, in its normal form, that a sentence gives as its answer, or None.

    >>> names = ["albert einstein", "einstein", "new york", "isaac newton"]
    >>> name_in("It was Albert Einstein.", names), name_in("Albert Einstein developed it.", names)
    ('albert einstein', 'albert einstein')
    >>> others = ("It is New York City.", "It was not Einstein.", "It was Isaac Newton and Einstein.")
    >>> [name_in(text, names) for text in others]
    [None, None, None]
    """
    if not is_sentence(sentence) or _NEGATED.search(sentence):
        return None
    words = _words(sentence)
    spans = [(at, at + name.count(" ") + 1, name) for name in names for at in _positions(words, name.split())]
    widest = [span for span in spans if not any(_within(span, other) for other in spans)]
    if len({name for _, _, name in widest}) != 1:
        return None
    return widest[0][2] if all(_stands_alone(words, start, end) for start, end, _ in widest) else None


def is_sentence(text: str) -> bool:
    """Whether a text is a sentence that is short enough to be an answer."""
    return len(text) <= LONGEST and text.count(" ") >= 2 and bool(_VERB.search(text))


def is_name(form: str | None) -> bool:
    """Whether a normal form may be searched for in sentences: a few words, at least one of them significant."""
    return (
        form is not None
        and form.count(" ") < MAX_WORDS
        and form not in _EMPTY
        and any(len(word) >= 3 or word.isdigit() for word in form.split())
    )


def with_names(texts: pl.Series, keys: pl.Series, question: Ints, voting: int) -> pl.Series:
    """Give a sentence the key of the name in it if one of the first `voting` texts is that name."""
    sentences = [row for row in range(voting) if (text := texts[row]) is not None and is_sentence(text)]
    if not sentences:
        return keys
    questions = {int(question[row]) for row in sentences}
    names = _names(keys, question, set(sentences), questions, range(voting))
    settled = keys.to_list()
    for row in sentences:
        settled[row] = name_in(texts[row], names.get(int(question[row]), ())) or settled[row]
    return pl.Series(keys.name, settled, pl.String)


def correct_by_name(texts: pl.Series, keys: pl.Series, question: Ints, golds: pl.Series, owner: Ints) -> Bools:
    """Return which texts are sentences that name a gold answer of their question and no other name."""
    sentences = {row for row, text in enumerate(texts) if text is not None and is_sentence(text)}
    correct: Bools = pl.Series([False] * len(texts), dtype=pl.Boolean).to_numpy().copy()
    accepted: dict[int, list[str]] = {}
    for index, gold in zip(owner.tolist(), golds, strict=True):
        accepted.setdefault(index, []).append(text_form(gold))
    names = _names(keys, question, sentences, {int(question[row]) for row in sentences}, range(len(texts)))
    for row in sentences:
        index = int(question[row])
        right = [form for form in accepted.get(index, ()) if is_name(form)]
        correct[row] = name_in(texts[row], dict.fromkeys([*right, *names.get(index, ())])) in right if right else False
    return correct


def _names(
    keys: pl.Series, question: Ints, sentences: set[int], questions: set[int], rows: Iterable[int]
) -> dict[int, list[str]]:
    """The names of the questions that have sentences, in order of appearance."""
    names: dict[int, dict[str, None]] = {}
    for row in rows:
        index = int(question[row])
        if index in questions and row not in sentences and is_name(form := keys[row]):
            names.setdefault(index, {})[form] = None
    return {index: list(forms)[:MAX_NAMES] for index, forms in names.items()}


def _words(sentence: str) -> list[Word]:
    words = []
    for token in sentence.split():
        bare = token.strip("\"'“”‘’()[]*_")
        forms = text_form(token).split() if any(char.isalnum() for char in token) else []
        capital, ends = bare[:1].isupper(), bare[-1:] in ".,;:!?" or token[-1:] in ".,;:!?)"
        if bare.lower() in ("a", "an", "the"):
            continue
        words += [Word(form, capital, ends and form is forms[-1]) for form in forms]
    return words


def _positions(words: Sequence[Word], name: Sequence[str]) -> list[int]:
    first = [at for at in range(len(words) - len(name) + 1) if words[at].form == name[0]]
    return [at for at in first if [word.form for word in words[at : at + len(name)]] == list(name)]


def _within(inner: tuple[int, int, str], outer: tuple[int, int, str]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1] and inner[:2] != outer[:2]


def _stands_alone(words: Sequence[Word], start: int, end: int) -> bool:
    """Whether a name is not part of a longer name or of a list."""
    name = words[start:end]
    before = words[start - 1] if start and not words[start - 1].ends else None
    after = words[end] if end < len(words) and not name[-1].ends else None
    return _is_separate(before, name[0]) and _is_separate(after, name[-1])


def _is_separate(neighbour: Word | None, name: Word) -> bool:
    """Whether the neighbouring word is not part of the name: a function word, or not capitalized like the name."""
    if neighbour is None or neighbour.form in _BEFORE:
        return True
    return name.capital and not neighbour.capital and neighbour.form not in _JOINS
