"""judged: the probability that two responses mean the same, by a judge (`steelyard score --verifier same-meaning`).

The texts are JSON objects with the response and the value of the column: its judgements, an object with a probability
per key of another response. A key is a hash of a text, so judgements survive any change of the rows. Pairs without a
judgement are compared by their words, as `tokens` does; equal responses are 1.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.answers.similarities.similarity import Similarity, find_similarity
from steelyard.foundation.judgements import parse_judgements, text_key

WORDS = "tokens"  # the similarity of pairs without a judgement


class Judged(Similarity):
    """p(a, b) if a judge has compared a and b (the mean if both responses have it); else the similarity of words."""

    name = "judged"
    summary = "Probability of the same meaning, by a judge (steelyard score --verifier same-meaning)."

    def matrix(self, texts: Sequence[str], prompt: str | None) -> NDArray[np.float32]:
        """Return the similarities of all pairs of texts [n, n]."""
        values = [json.loads(text) for text in texts]
        answers = [value["answer"] for value in values]
        similarities = np.asarray(find_similarity(WORDS).matrix(answers, prompt), np.float64)
        positions: dict[str, list[int]] = {}
        for i, answer in enumerate(answers):
            positions.setdefault(text_key(answer), []).append(i)
        sums, counts = np.zeros_like(similarities), np.zeros_like(similarities)
        for i, value in enumerate(values):
            for key, p in parse_judgements(value.get("judged")).items():
                others = positions.get(key, [])
                sums[i, others] += p
                counts[i, others] += 1
        sums, counts = sums + sums.T, counts + counts.T
        similarities = np.where(counts > 0, sums / np.maximum(counts, 1), similarities)
        for equal in positions.values():
            similarities[np.ix_(equal, equal)] = 1
        return similarities.astype(np.float32)
