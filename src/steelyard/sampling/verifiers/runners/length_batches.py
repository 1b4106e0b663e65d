"""Batches by length: responses of about the same length together, so that little is spent on padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.sampling.verifiers.protocol import Rendered

BUDGET = 16_384  # tokens a batch, padding included
FIRST, WINDOW = 32, 1024  # responses sorted together at the beginning, and later

Kind = TypeVar("Kind")


def windows(items: Iterator[Kind]) -> Iterator[list[Kind]]:
    """Cut into windows, each twice as long as the one before: reading begins soon, and never waits for the next.

    >>> [len(window) for window in windows(iter(range(100)))]
    [32, 64, 4]
    """
    size = FIRST
    while window := list(islice(items, size)):
        yield window
        size = min(2 * size, WINDOW)


def batches(lengths: Sequence[int], budget: int = BUDGET) -> Iterator[list[int]]:
    """Yield the indices of each batch, the longest first: (longest in the batch) x (its size) <= budget.

    A response longer than the budget is a batch of its own.

    >>> list(batches([5, 1, 9, 2, 5], budget=10))
    [[2], [0, 4], [3, 1]]
    """
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def padded(batch: Sequence[Rendered]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ids of a batch [responses, longest], padded on the right, and where its positions lie in that, counted on.

    A causal model needs no mask for it: nothing that is read stands behind padding.

    >>> ids, read = padded([Rendered([5, 6, 7], [1, 2]), Rendered([8], [0])])
    >>> ids.tolist(), read.tolist()
    ([[5, 6, 7], [8, 0, 0]], [1, 2, 3])
    """
    longest = max(len(rendered.ids) for rendered in batch)
    ids = np.zeros((len(batch), longest), np.int64)
    for row, rendered in zip(ids, batch, strict=True):
        row[: len(rendered.ids)] = rendered.ids
    read = [i * longest + position for i, rendered in enumerate(batch) for position in rendered.positions]
    return ids, np.asarray(read, np.int64)


def waste(lengths: Sequence[int], groups: Sequence[Sequence[int]]) -> float:
    """The share of a run's tokens that is padding.

    >>> waste([4, 2, 2], [[0, 1, 2]])
    0.33333333333333337
    """
    whole = sum(max(lengths[i] for i in group) * len(group) for group in groups)
    return 1 - sum(lengths) / whole if whole else 0.0
