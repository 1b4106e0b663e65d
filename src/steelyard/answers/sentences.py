"""Whether responses are sentences, and the kind of free text that compares them: by words, or by characters.

Chinese, Japanese, Thai, Lao, Khmer and Burmese have no spaces between words, so a sentence would be a single word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from steelyard.answers.kind_choice import BY_CHARACTERS, BY_WORDS

MIN_WORDS = 5  # of a sentence: the median response has at least as many
MIN_CHARACTERS = 8  # of a sentence in a script without spaces
SCANNED = 1000  # characters of a response
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_LETTER = re.compile(r"[^\W\d_]")


def kind_of_sentences(responses: Sequence[str]) -> str | None:
    """Return the kind of free text for responses that are sentences; None if they are not.

    >>> kind_of_sentences(["It was first climbed in 1953."]), kind_of_sentences(["首次登顶是在1953年五月。"])
    ('free', 'free:characters')
    >>> kind_of_sentences(["Mount Everest"]), kind_of_sentences(["珠穆朗玛峰"]), kind_of_sentences([])
    (None, None, None)
    """
    texts = [text[:SCANNED] for text in responses]
    if not texts:
        return None
    unspaced = [len(_UNSPACED.findall(text)) for text in texts]
    if 2 * sum(unspaced) > sum(len(_LETTER.findall(text)) for text in texts):
        return BY_CHARACTERS if median(unspaced) >= MIN_CHARACTERS else None
    return BY_WORDS if median(len(text.split()) for text in texts) >= MIN_WORDS else None
