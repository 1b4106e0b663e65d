"""What is bought for every question: so many samples of each source, and the scores of some of the sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.evaluation.source_prices import paid, usual_samples
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import LabelledPool

Levels = Sequence[Sequence[int]]  # the numbers of samples to try, by source


@dataclass(frozen=True)
class Purchase:
    """Samples of each source [S], and whether the verifier may be asked about them [S].

    >>> Purchase((4, 0, 2), (True, False, False)).described(("gpt", "llama", "phi"))
    '4 gpt (scored) + 2 phi'
    """

    samples: tuple[int, ...]
    scored: tuple[bool, ...]

    @property
    def sources(self) -> list[int]:
        """The sources that are asked at all."""
        return [s for s, count in enumerate(self.samples) if count]

    @property
    def scores(self) -> bool:
        """Whether the verifier is asked about any source."""
        return any(self.scored)

    @property
    def all_scored(self) -> Purchase:
        """The same with the scores of all sources that are asked."""
        return replace(self, scored=tuple(count > 0 for count in self.samples))

    def described(self, names: Sequence[str]) -> str:
        """As people read it."""
        return " + ".join(f"{self.samples[s]} {names[s]}{' (scored)' if self.scored[s] else ''}" for s in self.sources)

    def of(self, pool: LabelledPool) -> tuple[LabelledPool, Ints]:
        """What of a pool is bought, and which questions have any of it; without a score for the others' responses."""
        part = pool.first_of_sources(dict(zip(pool.sources, self.samples, strict=True)))
        mine = [pool.sources.index(name) for name in part.sources]
        where = np.flatnonzero(np.isin(np.asarray(pool.questions), np.asarray(part.questions)))
        if not self.scores:
            return replace(part, scores=None, origin=replace(part.origin, score=None)), where
        silent = ~np.array(self.scored)[mine][paid(part)[0]]
        return replace(part, scores=np.where(silent, np.nan, part.known_scores)), where

    def neighbours(self, levels: Levels, may_score: Sequence[bool]) -> Iterator[Purchase]:
        """All that differ by one step: more or fewer samples of a source, from one to another, or its scores."""
        for s in range(len(self.samples)):
            for step in (1, -1):
                if moved := self.moved(s, step, levels):
                    yield moved
                    if step > 0:
                        others = (moved.moved(t, -1, levels) for t in self.sources if t != s)
                        yield from (other for other in others if other)
            if self.samples[s] and may_score[s]:
                yield self.scoring(s, not self.scored[s])

    def scoring(self, source: int, scored: bool) -> Purchase:
        """The same with or without the scores of a source."""
        flags = tuple(scored if s == source else flag for s, flag in enumerate(self.scored))
        return replace(self, scored=flags)

    def moved(self, source: int, step: int, levels: Levels) -> Purchase | None:
        """More or fewer samples of a source; None where there are no more, or nobody would be left."""
        place = levels[source].index(self.samples[source]) + step
        if not 0 <= place < len(levels[source]):
            return None
        count = levels[source][place]
        samples = tuple(count if s == source else old for s, old in enumerate(self.samples))
        purchase = replace(self, samples=samples)
        purchase = purchase if count else purchase.scoring(source, False)
        return purchase if any(samples) else None


def levels_of(pool: LabelledPool) -> list[list[int]]:
    """The numbers of samples to try of each source: none, 1, 2, 4, .., and all that it usually gave."""
    usual = usual_samples(pool)
    return [[0, *sorted({*(2**k for k in range(n.bit_length()) if 2**k < n), n} - {0})] for n in usual]
