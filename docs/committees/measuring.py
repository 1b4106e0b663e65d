"""The measurements: by number of labels, by number of LLMs, with and without the best LLM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from docs.committees.cells import SPLITS, WAYS, Outcome, by_source, decide, mean_and_error, split, tested

LABELS = (10, 20, 50, 100, 200, 400)
USUAL = 200  # labels of the tables that show one number
SIZES = (2, 3, 5, 10)  # LLMs, and all
DRAWS = 30  # random committees of each size


def by_labels(name: str, pool: sy.LabelledPool) -> pl.DataFrame:
    """All LLMs, by number of labels."""
    consensus = sy.ConsensusVote().fit(pool.unlabelled())
    rows: list[dict[str, Any]] = []
    for labels in LABELS:
        cells = []
        for seed in SPLITS:
            labelled, test = split(pool, seed, labels)
            cells.append(tested(decide(pool, consensus, labelled), test))
        rows += summary(cells, set=name, labels=labels)
    return pl.DataFrame(rows)


def by_size(name: str, pool: sy.LabelledPool) -> pl.DataFrame:
    """Random committees of 2, 3, 5, 10 LLMs, each with a split of its own, and all of them."""
    rows: list[dict[str, Any]] = []
    for size in (*SIZES, len(pool.sources)):
        rows += summary(list(_committees(pool, size)), set=name, llms=size)
    return pl.DataFrame(rows)


def _committees(pool: sy.LabelledPool, size: int) -> Iterator[dict[str, Outcome]]:
    draws = DRAWS if size < len(pool.sources) else len(SPLITS)
    for draw in range(draws):
        names = np.random.default_rng([size, draw]).choice(pool.sources, size, replace=False).tolist()
        yield from _splits(pool, names, [SPLITS[0] + draw])


def without_best(name: str, pool: sy.LabelledPool) -> pl.DataFrame:
    """All LLMs, and all but the one that is best on all questions."""
    best = pool.sources[int(by_source(pool).sum(axis=0).argmax())]
    rest = [each for each in pool.sources if each != best]
    rows = list(summary(list(_splits(pool, pool.sources, SPLITS)), set=name, llms="all", best=best))
    rows += summary(list(_splits(pool, rest, SPLITS)), set=name, llms="without the best", best=best)
    return pl.DataFrame(rows)


def _splits(pool: sy.LabelledPool, names: Sequence[str], seeds: Sequence[int]) -> Iterator[dict[str, Outcome]]:
    """One cell for every split, of the committee of these LLMs; questions that none of them answered are wrong."""
    part = pool.from_sources(names)
    place = np.flatnonzero(np.isin(np.asarray(pool.questions), np.asarray(part.questions)))
    consensus = sy.ConsensusVote().fit(part.unlabelled())
    for seed in seeds:
        labelled, test = split(pool, seed, USUAL)
        known = np.isin(np.asarray(part.questions), np.asarray(labelled.questions))
        outcomes = {}
        for way, outcome in decide(part, consensus, part.take(known)).items():
            outcomes[way] = np.zeros(pool.n_questions)
            outcomes[way][place] = outcome
        yield tested(outcomes, test)


def summary(cells: Sequence[dict[str, Outcome]], **key: object) -> Iterator[dict[str, Any]]:
    """One row for every way: accuracy, and the paired differences to majority, consensus and the best single LLM."""
    for way in WAYS:
        accuracy, error = mean_and_error([cell[way] for cell in cells])
        row = {**key, "way": way, "accuracy": accuracy, "se": error}
        for column, other in (("majority", "majority"), ("consensus", "consensus"), ("best", "best single")):
            gain, se = mean_and_error([cell[way] - cell[other] for cell in cells])
            row |= {f"over_{column}": gain, f"over_{column}_se": se}
        yield row
