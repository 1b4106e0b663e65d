"""characters: the share of common n-grams of characters, for languages without spaces and any other text.

Letters and digits only, case-folded, of the **bold** parts if they say more than the prompt, else of all; without the
n-grams of the prompt, unless none would remain. Triples of characters, but pairs if one of them is Chinese, Japanese or
Korean: most Chinese words have two characters, whereas two letters say little.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from steelyard.answers.bold import stated
from steelyard.answers.similarities.similarity import MAX_SCANNED, FeatureSimilarity, feature_codes
from steelyard.answers.words import words

IDEOGRAPHS = 0x2E80  # the first code point of Chinese, Japanese and Korean
BITS = 21  # of a code point: three fit into a feature


class Characters(FeatureSimilarity):
    """|A & B| / |A | B| of the sets of n-grams."""

    name = "characters"
    summary = "Share of common pairs or triples of characters, without those of the prompt. Needs no spaces."
    formula = "jaccard"

    def features(self, text: str, prompt: str | None) -> Iterable[int]:
        """Return the n-grams as numbers."""
        return stated(text, _grams, _prompt_grams(prompt) if prompt else ())


def _grams(text: str) -> list[int]:
    """Return the n-grams, pairs first; a text too short for one is its own n-gram.

    >>> len(_grams("paris")), len(_grams("北京市")), len(_grams("日")), len(_grams(""))
    (3, 2, 1, 0)
    """
    letters = "".join(words(text))
    codes = np.frombuffer(letters[:MAX_SCANNED].encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
    pairs = codes[:-1] << BITS | codes[1:]
    wide = codes >= IDEOGRAPHS
    wide_pair = wide[:-1] | wide[1:]
    narrow = ~(wide_pair[:-1] | wide[2:])
    grams: list[int] = [*pairs[wide_pair].tolist(), *(pairs[:-1] << BITS | codes[2:])[narrow].tolist()]
    return grams or list(feature_codes([letters] if letters else []))


@lru_cache(maxsize=8)
def _prompt_grams(prompt: str) -> frozenset[int]:
    return frozenset(_grams(prompt))
