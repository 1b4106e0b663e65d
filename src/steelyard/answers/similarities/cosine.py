"""cosine: max(0, cosine) of two vectors in a column, such as the embeddings of `steelyard score --verifier embeddings`.

The texts are values of the column, vectors as JSON lists. Vectors are rounded to 16-bit integers
(foundation/vectors.py), whose products are summed exactly. A text that is not a vector is similar to equal texts alone.

The response with the largest sum of similarities is the same for the cosine and for a + (1 - a) cosine, such as
(1 + cosine) / 2, because similarities to itself stay 1. Opposite directions are no more different than unrelated ones.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from steelyard.answers.similarities.similarity import Similarity
from steelyard.foundation.errors import TableError
from steelyard.foundation.vectors import Vector, scaled


class Cosine(Similarity):
    """max(0, a.b / (|a| |b|)) of vectors a and b."""

    name = "cosine"
    summary = "Cosine of vectors in a column, such as embeddings."

    def matrix(self, texts: Sequence[str], prompt: str | None) -> NDArray[np.float32]:  # noqa: ARG002
        """Return the similarities of all pairs of texts [n, n]."""
        numbers: dict[str, int] = {}
        codes = np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)
        similarities = (codes[:, None] == codes).astype(np.float64)
        parsed = [vector_of(text) for text in texts]
        rows = [i for i, vector in enumerate(parsed) if vector is not None]
        vectors = [vector for vector in parsed if vector is not None]
        lengths = sorted({len(vector) for vector in vectors})
        if len(lengths) > 1:
            raise TableError(
                f"vectors of {lengths[0]} and of {lengths[-1]} numbers cannot be compared: embed all responses with "
                "the same model"
            )
        if vectors:
            similarities[np.ix_(rows, rows)] = cosines(np.array(vectors, np.float64))
        return np.asarray(similarities, np.float32)


def cosines(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cosines of all pairs of rows, at least 0. Sums of 65,536 products of 16-bit integers are below 2^53."""
    products = vectors @ vectors.T
    norms = np.sqrt(products.diagonal())
    similarities = np.clip(products / (norms[:, None] * norms), 0, 1)
    np.fill_diagonal(similarities, 1)
    return np.asarray(similarities, np.float64)


def vector_of(text: str) -> Vector | None:
    """The vector in a text; None if there is none."""
    if text.startswith("["):
        with suppress(ValueError, RecursionError):
            return scaled(json.loads(text))
    return None
