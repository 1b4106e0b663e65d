"""Scores of the responses to one question by comparisons: first a ring, then all against the leaders of the ring.

A comparison is two replies, one per order of the two responses. With N responses and k leaders there are at most
N + k(N - k) + k(k - 1)/2 comparisons. The next requests and the scores are functions of the replies so far, in whatever
order they arrived, so that an interrupted tournament continues where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import fsum

Pair = tuple[int, int]
TOLERANCE = 0.01  # a comparison whose probability is closer to 0.5 than this is a tie


def ring(players: int) -> list[Pair]:
    """Every player against the next.

    >>> ring(4), ring(2), ring(1)
    ([(0, 1), (1, 2), (2, 3), (0, 3)], [(0, 1)], [])
    """
    closing = [(0, players - 1)] if players > 2 else []
    return [(i, i + 1) for i in range(players - 1)] + closing


def comparison_range(players: int, leaders: int) -> Pair:
    """The fewest and the most comparisons of a tournament with readable replies; it depends on which responses lead.

    N + k(N - k) + k(k - 1)/2 without the pairs of the ring that have a leader: k + 1 of them if the leaders are
    neighbours, 2k if they are not.

    >>> comparison_range(8, 2), comparison_range(2, 2), comparison_range(1, 2)
    ((17, 18), (1, 1), (0, 0))
    """
    if players < 3:
        return max(0, players - 1), max(0, players - 1)
    k = min(leaders, players)
    bound = players + k * (players - k) + k * (k - 1) // 2
    return bound - min(2 * k, players), bound - min(k + 1, players)


def win_probability(shown_first: float | None, shown_second: float | None) -> float | None:
    """The probability that a response wins, from what the judge gives it in either order; None if unreadable.

    A tie is 0.5: if the two orders contradict each other, or their mean is about 0.5.

    >>> win_probability(0.9, 0.7), win_probability(0.9, 0.2), win_probability(0.9, None)
    (0.8, 0.5, None)
    """
    if shown_first is None or shown_second is None:
        return None
    return 0.5 if is_tie(shown_first, shown_second) else (shown_first + shown_second) / 2


def is_tie(first: float | None, second: float | None) -> bool:
    """Whether two readable replies contradict each other, or have a mean of about 0.5.

    >>> is_tie(0.9, 0.7), is_tie(0.9, 0.2), is_tie(0.51, 0.5), is_tie(0.5, None)
    (False, True, True, False)
    """
    if first is None or second is None:
        return False
    return min(first, second) < 0.5 < max(first, second) or abs((first + second) / 2 - 0.5) <= TOLERANCE


@dataclass
class Tournament:
    """The replies so far: `replies[a, b]` is the probability that a is better, when a was shown first."""

    players: int
    leaders: int
    replies: dict[Pair, float | None] = field(default_factory=dict)  # None: unreadable

    def comparison_range(self) -> Pair:
        """The fewest and the most comparisons."""
        return comparison_range(self.players, self.leaders)

    def next(self) -> list[Pair]:
        """The ordered pairs to ask about now; empty at the end."""
        return self._missing(ring(self.players)) or self._missing(self._schedule())

    def outcomes(self) -> dict[Pair, float | None]:
        """The probability that the first of each pair wins; None if a reply is unreadable."""
        return self._outcomes(self._schedule())

    def ties(self) -> int:
        """The comparisons that give both responses 0.5."""
        return list(self.outcomes().values()).count(0.5)

    def scores(self) -> list[float | None]:
        """The mean probability of winning per player, None without a readable comparison; 0.5 without an opponent."""
        return [0.5] if self.players == 1 else self._means(self.outcomes())

    def _schedule(self) -> list[Pair]:
        """The ring, then the other pairs with a leader."""
        pairs = ring(self.players)
        means = self._means(self._outcomes(pairs))
        ranked = sorted((-mean, i) for i, mean in enumerate(means) if mean is not None)
        best = [i for _, i in ranked[: self.leaders]]
        others = {(min(i, j), max(i, j)) for i in best for j in range(self.players) if i != j}
        return pairs + sorted(others.difference(pairs))

    def _missing(self, pairs: Iterable[Pair]) -> list[Pair]:
        return [call for a, b in pairs for call in ((a, b), (b, a)) if call not in self.replies]

    def _outcomes(self, pairs: Sequence[Pair]) -> dict[Pair, float | None]:
        outcomes: dict[Pair, float | None] = {}
        for a, b in pairs:
            swapped = self.replies.get((b, a))
            outcomes[a, b] = win_probability(self.replies.get((a, b)), None if swapped is None else 1 - swapped)
        return outcomes

    def _means(self, outcomes: dict[Pair, float | None]) -> list[float | None]:
        won: list[list[float]] = [[] for _ in range(self.players)]
        for (a, b), probability in outcomes.items():
            if probability is not None:
                won[a].append(probability)
                won[b].append(1 - probability)
        return [round(fsum(wins) / len(wins), 12) if wins else None for wins in won]
