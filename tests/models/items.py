"""Responses of every length, drawn with a seed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from steelyard.sampling.verifiers.scored_items import Item, Runner, Scores

TEXT = "we add the two numbers = 12 and 30 so x + y \\frac{1}{2} is near $4$. Then\ndivide by 7, ки < >"
WORDS = np.array(TEXT.split(" "))


def drawn(count: int, seed: int) -> list[Item]:
    rng = np.random.default_rng(seed)
    return [
        Item(
            f"Question {i}: {_text(rng, 12)}?",
            [_text(rng, int(rng.integers(1, 40))) for _ in range(rng.integers(1, 9))],
            {"number": i},
        )
        for i in range(count)
    ]


def samples(questions: int, each: int, seed: int) -> list[Item]:
    """Samples that share their question, in a mixed order."""
    asked = drawn(questions, seed)
    found = [
        Item(asked[i % questions].question, item.steps, {"number": i})
        for i, item in enumerate(drawn(questions * each, seed + 1))
    ]
    return [found[i] for i in np.random.default_rng(seed).permutation(len(found))]


def _text(rng: np.random.Generator, words: int) -> str:
    return " ".join(rng.choice(WORDS, words))


async def every(runner: Runner, items: Sequence[Item]) -> list[Scores]:
    """The scores of items, in their order; none may fail."""
    found = {id(item): result async for item, result in runner.score(iter(items))}
    assert len(found) == len(items)
    scores = [found[id(item)] for item in items]
    good = [result for result in scores if isinstance(result, Scores)]
    assert len(good) == len(items), scores
    return good


def scored(runner: Runner, items: Sequence[Item]) -> list[Scores]:
    return asyncio.run(every(runner, items))
