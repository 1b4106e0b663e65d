"""Draw many different problems, balanced over domains and levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, islice

from recipes.grid.problems.making import DOMAINS, LEVELS, make
from recipes.grid.problems.work import Problem

MOST_TRIES = 2000  # for one new problem before a domain counts as used up


def draw(count: int, seed: int | str, levels: Sequence[float] = (1, 1, 1)) -> list[Problem]:
    """Return `count` problems, no two the same; domains take turns and levels follow the proportions.

    A longer list begins with the shorter one of the same seed and proportions.
    """
    seen: set[object] = set()
    turns = zip(cycle(DOMAINS), _levels(levels, -(-count // len(DOMAINS))), strict=False)
    return [_new(domain, f"{seed}/{i}", level, seen) for i, (domain, level) in enumerate(islice(turns, count))]


def splits(sizes: dict[str, int], seed: int | str, levels: Sequence[float] = (1, 1, 1)) -> dict[str, list[Problem]]:
    """Several lists that share no question and no signature, within or across."""
    problems = iter(draw(sum(sizes.values()), seed, levels))
    return {name: list(islice(problems, size)) for name, size in sizes.items()}


def _levels(weights: Sequence[float], rounds: int) -> Iterator[int]:
    """The level of every turn: a round of all domains has one level, the one that lags its share the most."""
    given = [0] * len(LEVELS)
    for turn in range(1, rounds + 1):
        lag = [weight / sum(weights) * turn - had for weight, had in zip(weights, given, strict=True)]
        most = lag.index(max(lag))
        given[most] += 1
        yield from [LEVELS[most]] * len(DOMAINS)


def _new(domain: str, seed: str, level: int, seen: set[object]) -> Problem:
    """The first problem of this seed that was not seen, which then is."""
    for again in range(MOST_TRIES):
        problem = make(domain, f"{seed}/{again}", level)
        if problem.signature not in seen and problem.text not in seen:
            seen |= {problem.signature, problem.text}
            return problem
    raise ValueError(f"no more different problems in {domain} at level {level}: ask for fewer or mix levels")
