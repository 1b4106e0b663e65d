"""Where the methods are measured: every pair of the grid, controls without signal, and simulated worlds.

A cell is one pool and one split: 600 questions to test on, and of the other 400 the first 50, 100, 200 or 400 to
calibrate on. The splits (SEEDS) were not used while the method was designed; that was done with seeds
0 to 2, and 10 to 12 had been looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import steelyard as sy
from steelyard.evaluation.accuracy import need_labels

SEEDS = (30, 31, 32)
SIZES = (50, 100, 200, 400)
WORLDS = {
    f"gap {gap:g}, inconsistency {inconsistency:g}": sy.testing.World(gap=gap, inconsistency=inconsistency)
    for gap in (0.0, 0.5, 1.0, 2.0)
    for inconsistency in (0.0, 1.0)
}
CONTROLS = ("prm_soft", "prm_hard")  # verifiers whose scores are also shuffled and inverted


@dataclass(frozen=True)
class Source:
    """One pool to measure on."""

    group: str  # grid, self, shuffled, inverted, simulated
    name: str
    pool: sy.LabelledPool


def sources(n: int | None = None) -> Iterator[Source]:
    """Every pool, one at a time."""
    llms, verifiers = sy.paper.grid_names()
    for llm in llms:
        for verifier in verifiers:
            pool = sy.paper.load_grid(llm, verifier)
            pool = pool if n is None else pool.first(n)
            name = f"{llm}/{verifier}"
            yield Source("self" if verifier.startswith("self") else "grid", name, pool)
            if verifier in CONTROLS:
                yield Source("shuffled", name, pool.with_shuffled_scores(1))
                yield Source("inverted", name, replace(pool, scores=1 - pool.known_scores))
    for number, (name, world) in enumerate(WORLDS.items()):
        table = sy.simulate(1000, n or 32, seed=100 + number, world=world)
        yield Source("simulated", name, need_labels(sy.read(table)))


def split(pool: sy.LabelledPool, seed: int) -> tuple[sy.LabelledPool, dict[int, sy.LabelledPool]]:
    """Return the test questions, and the calibration questions by size."""
    order = np.random.default_rng(seed).permutation(pool.n_questions)
    return pool.take(np.sort(order[400:])), {size: pool.take(np.sort(order[:size])) for size in SIZES}
