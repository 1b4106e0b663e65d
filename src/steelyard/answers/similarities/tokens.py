"""tokens: the share of common words.

The words of the **bold** parts, if they say more than the prompt, else all words; without English stop words and the
words of the prompt, unless none would remain.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from steelyard.answers.bold import stated
from steelyard.answers.similarities.similarity import FeatureSimilarity, feature_codes
from steelyard.answers.words import words

_STOP_WORDS = (
    "a an the of in on at to for and or is was were are be been by with as that this it its he she they his her their "
    "from which who what when where how i do does did"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
NEAR = 1  # words before and after "or"


class Tokens(FeatureSimilarity):
    """|A & B| / |A | B| of the sets of words."""

    name = "tokens"
    summary = "Share of common words: those of bold parts, if any, without those of the prompt. The default."
    formula = "jaccard"

    def features(self, text: str, prompt: str | None) -> Iterable[int]:
        """Return the codes of the words that count."""
        return feature_codes(stated(text, _informative, _prompt_words(prompt) if prompt else ()))


def _informative(text: str) -> list[str]:
    """Return the distinct words that are no stop words, or all of them."""
    distinct = list(dict.fromkeys(words(text)))
    return [word for word in distinct if word not in STOP_WORDS] or distinct


@lru_cache(maxsize=8)
def _prompt_words(prompt: str) -> frozenset[str]:
    """The words of a prompt that do not count: all but those beside "or", between which responses choose.

    >>> sorted(_prompt_words("Which is larger, Paris or Rome?"))
    ['is', 'larger', 'or', 'which']
    """
    prompt_words = words(prompt)
    places = [i for i, word in enumerate(prompt_words) if word == "or"]
    offered = {word for i in places for word in prompt_words[max(0, i - NEAR) : i + NEAR + 1]}
    return frozenset(prompt_words) - (offered - STOP_WORDS)
