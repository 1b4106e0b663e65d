"""Which tokens lie where when the samples of a question are read behind one prefix, without padding.

A pack is one row of tokens, made of segments: the ids that all samples of a question share, then what each one adds.
A segment attends to the prefix of its question and, causally, to itself, so it is read as if it followed alone.
The positions of every sample begin after its prefix.

    tokens     p p p | a a | b b b | P P | c c        (prefix p with the samples a and b, prefix P with the sample c)
    positions  0 1 2 | 3 4 | 3 4 5 | 0 1 | 2 3
    keys       p p p | p p p a a | p p p b b b | P P | P P c c
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from steelyard.sampling.verifiers.protocol import Rendered


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
    for number, each in zip(mine, rendered, strict=True):
        ids = np.asarray(each.ids[: max(each.positions)], np.int64)
        known = common.get(number, ids)
        most = min(len(known), len(ids))
        differ = np.flatnonzero(known[:most] != ids[:most])
        common[number] = known[: differ[0] if len(differ) else most]
    return [Branch(each, number, len(common[number])) for number, each in zip(mine, rendered, strict=True)]


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
        prefix = parts.add(same[0].rendered.ids[: same[0].shared], NOTHING)
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


NOTHING = np.arange(0)


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
