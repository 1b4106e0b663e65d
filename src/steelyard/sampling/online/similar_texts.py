"""The similarities of the responses to one question, each pair compared once however often the vote is counted."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from steelyard.answers.kind import Kind
from steelyard.answers.similarities.cosine import Cosine, cosines
from steelyard.answers.similarities.similarity import FeatureSimilarity, checked_matrix, find_similarity
from steelyard.foundation.errors import SettingError
from steelyard.foundation.vectors import Vector


class SimilarTexts:
    """Compares texts as `read` does; threads may share it.

    >>> from steelyard.answers.extract import kind_of
    >>> SimilarTexts(kind_of("free"), "Which city?").matrix(["It is Paris.", "the city of Paris", "Rome"])[0].tolist()
    [1.0, 1.0, 0.0]
    """

    def __init__(self, kind: Kind, prompt: str | None = None, longest: int | None = None) -> None:
        """The words of the `prompt` do not count, and only the first `longest` characters of each text are compared."""
        check_comparable(kind)
        self.similarity, self.prompt, self.longest = find_similarity(str(kind.similarity)), prompt, longest
        self._lock = Lock()
        self._index: dict[str, int] = {}
        self._bit_of: dict[int, int] = {}  # by feature
        self._features: list[int] = []  # of each text, as the bits of a number
        self._values = np.ones((8, 8), np.float32)

    def matrix(self, texts: list[str]) -> NDArray[np.float32]:
        """The similarities of all pairs of texts [n, n]."""
        with self._lock:
            if not isinstance(self.similarity, FeatureSimilarity):
                return self.similarity.matrix([text[: self.longest] for text in texts], self.prompt)
            index = [self._compared(text, self.similarity) for text in texts]
            return self._values[np.ix_(index, index)]

    def _compared(self, text: str, similarity: FeatureSimilarity) -> int:
        """The index of a text; a new one is compared with all others, rounded like `kernels.overlaps`."""
        from steelyard.voting.kernels.feature_overlaps import STEPS

        if text in self._index:
            return self._index[text]
        new = len(self._features)
        if new == len(self._values):
            self._values = np.pad(self._values, (0, new), constant_values=1)
        codes = similarity.codes(text[: self.longest], self.prompt).tolist()
        features = _number_with_bits([self._bit_of.setdefault(code, len(self._bit_of)) for code in codes])
        dice, size = similarity.formula == "dice", features.bit_count()
        for i, other in enumerate(self._features):
            shared, total = (features & other).bit_count(), size + other.bit_count()
            part, of = (2 * shared, total) if dice else (shared, total - shared)
            self._values[new, i] = self._values[i, new] = (2 * STEPS * part + of) // (2 * of) / STEPS
        self._features.append(features)
        self._index[text] = new
        return new


class EmbeddedTexts(SimilarTexts):
    """Compares texts by their vectors, all of one length, as `read` does with `free:cosine:NAME`.

    >>> from steelyard.answers.extract import kind_of
    >>> from steelyard.foundation.vectors import scaled
    >>> vectors = {"Paris": scaled([1, 0]), "Lutetia": scaled([4, 3]), "Rome": scaled([0, 1])}
    >>> EmbeddedTexts(kind_of("free"), vectors).matrix(["Paris", "Lutetia", "Rome"])[0].round(2).tolist()
    [1.0, 0.800000011920929, 0.0]
    """

    def __init__(self, kind: Kind, vectors: Mapping[str, Vector], longest: int | None = None) -> None:
        """`vectors`: by text, of which only the first `longest` characters are compared."""
        super().__init__(kind, None, longest)
        self._index = {text: i for i, text in enumerate(vectors)}
        similarities = cosines(np.array(list(vectors.values()), np.float64)).astype(np.float32)
        self._values = checked_matrix(Cosine.name, similarities, len(vectors))

    def matrix(self, texts: list[str]) -> NDArray[np.float32]:
        """The similarities of all pairs of texts [n, n]."""
        index = [self._index[text[: self.longest]] for text in texts]
        return self._values[np.ix_(index, index)]


def _number_with_bits(bits: list[int]) -> int:
    flags = np.zeros(max(bits) + 1, bool)
    flags[bits] = True
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def check_comparable(kind: Kind) -> None:
    """Refuse a kind that compares a column of a table."""
    if kind.column is not None:
        raise SettingError(
            f"{kind.name!r} compares the values of a column, and samples have no columns: use free, free:characters "
            "or free:json"
        )
