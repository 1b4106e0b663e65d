"""Similarities of free-text responses: the comparison of all pairs against a matrix product, and reading the words."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import Row, at_least, seconds
from steelyard.answers.similarities.similarity import (
    FeatureSimilarity,
    find_similarity,
    number_features,
    similarity_blocks,
)
from steelyard.voting import kernels

QUESTIONS, N, LENGTH = 1000, 64, 300
PAIRS = QUESTIONS * N * (N - 1) // 2
GOAL = 2e6  # pairs per second on two cores


def responses() -> tuple[list[str], NDArray[np.int64]]:
    """Texts of words with the frequencies of English, and more of one topic within a question."""
    rng = np.random.default_rng(0)
    vocabulary = np.array(
        ["".join(rng.choice(list("abcdefghijklmnoprstuvw"), rng.integers(2, 10))) for _ in range(20_000)]
    )
    texts = []
    for _ in range(QUESTIONS):
        topic = rng.integers(0, len(vocabulary), 60)
        common = np.minimum(rng.zipf(1.3, (N, LENGTH // 6)), len(vocabulary)) - 1
        chosen = np.where(rng.random(common.shape) < 0.5, common, rng.choice(topic, common.shape))
        texts += [" ".join(row)[:LENGTH] for row in vocabulary[chosen]]
    return texts, np.arange(0, QUESTIONS * N + 1, N)


def by_products(part: tuple[NDArray[Any], ...]) -> NDArray[np.float32]:
    """The same similarities as numpy users compute them: the sets as zeros and ones [N, words], times themselves."""
    starts, begins, width, features = part
    blocks = []
    for q in range(QUESTIONS):
        sets = np.zeros((N, width[q]), np.float32)
        text = np.repeat(np.arange(N), np.diff(begins[starts[q] : starts[q + 1] + 1]))
        sets[text, features[begins[starts[q]] : begins[starts[q + 1]]]] = 1
        shared, size = sets @ sets.T, sets.sum(axis=1)
        blocks.append((shared / (size[:, None] + size[None, :] - shared)).ravel())
    return np.concatenate(blocks)


def rows() -> list[Row]:
    texts, starts = responses()
    tokens = find_similarity("tokens")
    assert isinstance(tokens, FeatureSimilarity)
    part = number_features(tokens, texts, starts, None)
    offsets = kernels.read_only(np.arange(QUESTIONS, dtype=np.int64) * N * N)
    blocks = np.empty(QUESTIONS * N * N, np.float32)
    half = QUESTIONS // 2

    def compare() -> None:
        starts, begins, width, features = part
        with ThreadPoolExecutor(2) as executor:
            for begin, end in ((0, half), (half, QUESTIONS)):
                arrays = (starts[begin : end + 1], begins, width[begin:end], features)
                executor.submit(kernels.overlaps, *arrays, False, offsets[begin:end], blocks)

    compare()
    assert np.abs(blocks - by_products(part)).max() < 2**-16
    pairs, product, reading, everything = seconds(
        compare,
        lambda: by_products(part),
        lambda: number_features(tokens, texts, starts, None),
        lambda: similarity_blocks(tokens, texts, starts, None),
        repeats=3,
    )
    what = f"similarities of {QUESTIONS:,} x {N} responses of {LENGTH} characters"
    goal = f"at least {GOAL / 1e6:g} M pairs/s"
    return [
        Row(f"{what}, sets of words", f"{PAIRS / pairs / 1e6:.1f} M pairs/s", goal, pairs * GOAL <= PAIRS),
        at_least(f"{what}, sets of words, against matrix products", product / pairs, 1, f"{product:.2f} s"),
        Row(
            f"{what}, reading the words",
            f"{len(texts) / reading / 1e3:.0f} k texts/s ({reading:.2f} s)",
            "no goal",
            True,
        ),
        Row(f"{what}, from text", f"{PAIRS / everything / 1e6:.1f} M pairs/s ({everything:.2f} s)", "no goal", True),
    ]
