"""The base class of stopping rules: a signal after each sample, a threshold, a cap and a minimum.

    stop after the first k samples with  k >= cap,  or  k >= least  and  signal(k) >= threshold

All that a rule may look at is what the vote says after every sample, k = 1 .. N, of every question (`PrefixVotes`). It
looks at the samples of a question in their own order, never in the order in which they arrived: answers that are quick
to write are more often wrong, and a rule that listened to the first to finish would trust them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import SettingError
from steelyard.voting.pools.arrays import Bools, Codes, Ints
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.similarity import ALIKE
from steelyard.voting.pools.verdicts import Verdicts
from steelyard.voting.stopping.answer_numbers import answer_numbers

MOST = 1_000_000  # samples per question


@dataclass(frozen=True)
class Rule(ABC):
    """A rule that says, after every sample, whether the question needs another.

    >>> import steelyard as sy
    >>> sy.evaluation.rule_class("beta")(cap=16, least=2, threshold=0.95)
    Beta(cap=16, least=2, threshold=0.95)
    """

    name: ClassVar[str]  # what a plan calls it
    thresholds: ClassVar[tuple[float, ...]] = ()  # those worth trying; none: the cap alone decides
    minimums: ClassVar[tuple[int, ...]] = (1, 2, 3, 4)  # values of `least` worth trying
    windowed: ClassVar[bool] = False  # whether the signal depends on `least`

    cap: int
    least: int = 1
    threshold: float = 1.0

    def __post_init__(self) -> None:
        for name in ("cap", "least"):
            if type(getattr(self, name)) is not int:
                raise SettingError(f"{name} is {getattr(self, name)!r:.40}: give a whole number of samples")
        if self.cap > MOST:
            raise SettingError(f"cap is {self.cap!r:.40}: give at most {MOST:,} samples")
        if not 1 <= self.least <= self.cap:
            raise SettingError(f"least is {self.least} and cap is {self.cap}: they need 1 <= least <= cap")
        if type(self.threshold) not in (int, float) or not 0 < self.threshold <= 1:
            raise SettingError(f"threshold is {self.threshold!r:.40}: give a number above 0 and up to 1")

    @abstractmethod
    def signal(self, prefix: PrefixVotes) -> NDArray[np.float64]:
        """Return how sure the rule is after each prefix [Q, K]; it stops where this reaches the threshold."""

    @abstractmethod
    def describe(self, prefix: PrefixVotes) -> str:
        """Describe in one line how sure the rule is after the last prefix of one question."""

    def ready(self, prefix: PrefixVotes) -> Bools:
        """Return after which prefixes the rule asks for no more [Q, K]."""
        sure = (self.signal(prefix) >= self.threshold) & (prefix.k >= self.least)
        return sure | (prefix.k >= self.cap)

    def stops(self, prefix: PrefixVotes) -> Ints:
        """Return how many samples the rule takes of every question [Q]: the first prefix that is ready, or all."""
        ready = self.ready(prefix)
        first: Ints = np.where(ready.any(axis=1), prefix.k[ready.argmax(axis=1)], prefix.k[-1])
        return np.minimum(first, prefix.sizes)

    def why(self, prefix: PrefixVotes) -> str:
        """Say in one line why the rule goes on, or stops, after the last prefix of one question."""
        if not self.ready(prefix)[0, -1]:
            return f"go on: {self.describe(prefix)}"
        sure = prefix.k[-1] >= self.least and self.signal(prefix)[0, -1] >= self.threshold
        return f"stop: {'' if sure else f'the cap of {self.cap} samples is reached; '}{self.describe(prefix)}"

    def plain(self) -> dict[str, Any]:
        """The rule as a plan writes it."""
        return {"rule": self.name, **asdict(self)}

    @classmethod
    def from_plain(cls, settings: dict[str, Any]) -> Self:
        """Make the rule a plan describes; every value must be there and of its kind."""
        expected = {field.name for field in fields(cls)}
        if set(settings) != expected:
            raise SettingError(f"{cls.name} has the settings {sorted(expected)}, not {sorted(settings)}")
        return cls(**settings)


class Voter(Protocol):
    """A fitted method."""

    def predict(self, pool: Pool) -> Verdicts:
        """Decide every question of a pool."""


@dataclass(frozen=True, eq=False)
class PrefixVotes:
    """The vote on the first k samples of every question; a question with fewer stands still at its end."""

    k: Ints  # [K] rising: samples so far
    sizes: Ints  # [Q] samples there are
    code: Codes  # [Q, K] the verdict, -1 = nothing readable yet
    confidence: NDArray[np.float64]  # [Q, K] the probability that the verdict is correct; NaN: none was learned
    votes: Ints  # [Q, K] for the verdict
    rival: Ints  # [Q, K] for the answer with the most votes among the others
    numbers: Ints  # [Q, k[-1]] the answer of each sample (answer_numbers.py), -1 = none
    leader: Ints  # [Q, K] the verdict as such a number, -1 = none
    learned: bool  # whether there is a confidence
    correct: Bools | None = None  # [Q, K] with labels

    def of_questions(self, questions: slice) -> dict[str, Any]:
        """The arrays that have a row per question, for these questions."""
        shared = ("k", "learned")
        arrays = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in shared}
        return {name: None if array is None else array[questions] for name, array in arrays.items()}


def prefix_votes(voter: Voter, pool: Pool, last: int | None = None) -> PrefixVotes:
    """Vote on all prefixes of every question, up to `last` samples; labels are out of the voter's sight."""
    bare = pool.unlabelled() if isinstance(pool, LabelledPool) else pool
    k = np.arange(1, (last or pool.n) + 1)
    shape = (pool.n_questions, len(k))
    code, confidence, votes = np.empty(shape, np.int32), np.empty(shape), np.empty(shape, np.int64)
    learned = True
    for i, n in enumerate(k.tolist()):
        verdicts = voter.predict(bare.first(n))
        code[:, i], confidence[:, i], votes[:, i] = verdicts.code, verdicts.confidence, verdicts.votes
        learned = learned and verdicts.p_correct is not None
    correct = None
    if isinstance(pool, LabelledPool):
        correct = pool.answer_correct[np.where(code < 0, 0, pool.base[:, None] + code)] & (code >= 0)
    seen = _rivals(pool, k, code), *_numbers(pool, k, code)
    return PrefixVotes(k, pool.sizes, code, confidence, votes, *seen, learned, correct)


def prefix_of(verdicts: Verdicts) -> PrefixVotes:
    """Return the last prefix alone, from a vote on all samples so far of one question."""
    k = verdicts.pool.sizes
    code, confidence, votes = verdicts.code[:, None], verdicts.confidence[:, None], verdicts.votes[:, None]
    seen = _rivals(verdicts.pool, k, code), *_numbers(verdicts.pool, k, code)
    return PrefixVotes(k, k, code, confidence, votes, *seen, verdicts.p_correct is not None)


def in_chunks(
    signal: Callable[[PrefixVotes], NDArray[np.float64]], prefix: PrefixVotes, size: int = 1024
) -> NDArray[np.float64]:
    """Compute a signal for some questions at a time, to bound the memory that it takes."""
    starts = range(0, len(prefix.sizes), size)
    parts = [signal(replace(prefix, **prefix.of_questions(slice(start, start + size)))) for start in starts]
    return np.concatenate([np.empty((0, len(prefix.k))), *parts])


def _rivals(pool: Pool, k: Ints, code: Codes) -> Ints:
    from steelyard.voting import kernels

    rival = np.zeros(code.shape, np.int64)
    read = (pool.starts, pool.width, pool.answer)
    if pool.similarity is None:
        kernels.rivals(*read, k, code, rival)
    else:
        kernels.similar_rivals(*read, pool.similarity.begin, pool.similarity.values, ALIKE, k, code, rival)
    return rival


def _numbers(pool: Pool, k: Ints, code: Codes) -> tuple[Ints, Ints]:
    numbers, number = answer_numbers(pool, int(k[-1]))
    offsets = np.cumsum(pool.width) - pool.width
    index = np.where(code < 0, 0, offsets[:, None] + code)
    return numbers, np.where(code < 0, -1, number[index] if len(number) else -1)
