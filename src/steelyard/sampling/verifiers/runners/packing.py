"""Puts responses together for one forward pass: padded, by length, or packed behind the prefix of their question.

A pack is one row of tokens without padding, made of segments: the ids that all samples of a question share, then those
that each sample adds. A segment attends to the prefix of its question and, causally, to itself, so it is read as if it
followed alone. The positions of every sample begin after its prefix.

    tokens     p p p | a a | b b b | P P | c c        (prefix p with the samples a and b, prefix P with the sample c)
    positions  0 1 2 | 3 4 | 3 4 5 | 0 1 | 2 3
    keys       p p p | p p p a a | p p p b b b | P P | P P c c
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.sampling.verifiers.protocol import Rendered

BUDGET = 16_384  # tokens a batch, padding included
FIRST, WINDOW = 32, 1024  # responses sorted together at the beginning, and later
NO_TOKENS = np.arange(0)
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


@dataclass(frozen=True)
class Branch:
    """A response to read: its first `shared` ids are those of every sample of the question of that number."""

    rendered: Rendered
    question: int
    shared: int

    @property
    def end(self) -> int:
        """How many of its ids are read: what follows the last position changes no score."""
        return max(self.rendered.positions) + 1


@dataclass(frozen=True)
class Pack:
    """A row of tokens. Segment i asks with the tokens from `query_ends[i]`, by the keys from `key_ends[i]`."""

    ids: NDArray[np.int64]  # [tokens]
    positions: NDArray[np.int64]  # [tokens]
    keys: NDArray[np.int64]  # [keys], the token of each
    query_ends: NDArray[np.int32]  # [segments + 1]
    key_ends: NDArray[np.int32]  # [segments + 1]
    read: NDArray[np.int64]  # [positions of the responses, one after the other], the token of each


def branches(rendered: Sequence[Rendered], questions: Sequence[Hashable]) -> list[Branch]:
    """The responses as branches of their questions; each has at least one id of its own.

    >>> a, b = Rendered([1, 2, 3], [2]), Rendered([1, 2, 4, 5], [1, 3])
    >>> [branch.shared for branch in branches([a, b, Rendered([9], [0])], ["x", "x", "y"])]
    [2, 2, 0]
    """
    numbers: dict[Hashable, int] = {}
    mine = [numbers.setdefault(question, len(numbers)) for question in questions]
    common: dict[int, NDArray[np.int64]] = {}
    for number, item in zip(mine, rendered, strict=True):
        ids = np.asarray(item.ids[: max(item.positions)], np.int64)
        prefix = common.get(number, ids)
        most = min(len(prefix), len(ids))
        differ = np.flatnonzero(prefix[:most] != ids[:most])
        common[number] = prefix[: differ[0] if len(differ) else most]
    return [Branch(item, number, len(common[number])) for number, item in zip(mine, rendered, strict=True)]


def packs(some: Sequence[Branch], budget: int) -> Iterator[list[int]]:
    """Yield the indices of each pack, question by question: as many responses as fit into `budget` tokens.

    A response longer than the budget is a pack of its own.

    >>> one = Branch(Rendered([1, 2, 3, 4], [3]), question=0, shared=2)
    >>> list(packs([one] * 5, budget=6))
    [[0, 1], [2, 3], [4]]
    """
    pack: list[int] = []
    tokens = 0
    for i in sorted(range(len(some)), key=lambda i: (some[i].question, i)):
        more = some[i].end - (some[i].shared if pack and some[pack[-1]].question == some[i].question else 0)
        if pack and tokens + more > budget:
            yield pack
            pack, tokens, more = [], 0, some[i].end
        pack.append(i)
        tokens += more
    if pack:
        yield pack


def packed(some: Sequence[Branch]) -> Pack:
    """Lay responses out in one row; those of one question stand side by side and get one prefix."""
    parts = _Segments()
    read = []
    for _, group in groupby(some, lambda branch: branch.question):
        same = list(group)
        prefix = parts.add(same[0].rendered.ids[: same[0].shared], NO_TOKENS)
        behind = np.arange(prefix, prefix + same[0].shared)
        for branch in same:
            start = parts.add(branch.rendered.ids[branch.shared : branch.end], behind)
            places = np.asarray(branch.rendered.positions)
            read.append(places + np.where(places < branch.shared, prefix, start - branch.shared))
    return Pack(
        np.concatenate(parts.ids),
        np.concatenate(parts.positions),
        np.concatenate(parts.keys),
        np.cumsum([0, *map(len, parts.ids)], dtype=np.int32),
        np.cumsum([0, *map(len, parts.keys)], dtype=np.int32),
        np.concatenate(read),
    )


class _Segments:
    """The segments of a pack, one after the other."""

    def __init__(self) -> None:
        self.tokens = 0
        self.ids: list[NDArray[np.int64]] = []
        self.positions: list[NDArray[np.int64]] = []
        self.keys: list[NDArray[np.int64]] = []

    def add(self, ids: Sequence[int], behind: NDArray[np.int64]) -> int:
        """Add a segment that follows the tokens `behind`, and return where it begins; none if there are no ids."""
        start = self.tokens
        if len(ids):
            self.tokens += len(ids)
            self.ids.append(np.asarray(ids, np.int64))
            self.positions.append(np.arange(len(behind), len(behind) + len(ids)))
            self.keys.append(np.concatenate([behind, np.arange(start, self.tokens)]))
        return start
