"""The rules of `consensus` beside each other, where all questions have the same few answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from docs.committees.cells import Outcome, mean_and_error
from docs.committees.measuring import DRAWS, SIZES
from docs.committees.peers import CLOSED

RULES = ("agreement", "one-coin", "dawid-skene")


def by_rule(name: str, pool: sy.LabelledPool) -> pl.DataFrame:
    """Accuracy on all questions of every rule, for random committees of several sizes and for all LLMs."""
    rows = list(_rows(name, pool)) if name in CLOSED else []
    kinds = {"set": pl.String, "llms": pl.Int64, "way": pl.String}
    floats = ("accuracy", "se", "behind", "behind_se")
    return pl.DataFrame(rows, kinds | dict.fromkeys(floats, pl.Float64))


def _rows(name: str, pool: sy.LabelledPool) -> Iterator[dict[str, Any]]:
    for size in (*SIZES[1:], len(pool.sources)):
        cells = [_decided(pool, names) for names in _committees(pool, size)]
        for way in cells[0]:
            accuracy, error = mean_and_error([cell[way] for cell in cells])
            behind, se = mean_and_error([cell["agreement"] - cell[way] for cell in cells])
            row = {"set": name, "llms": size, "way": way, "accuracy": accuracy, "se": error}
            yield row | {"behind": behind, "behind_se": se}


def _committees(pool: sy.LabelledPool, size: int) -> Iterator[list[str]]:
    for draw in range(DRAWS if size < len(pool.sources) else 1):
        yield np.random.default_rng([size, draw]).choice(pool.sources, size, replace=False).tolist()


def _decided(pool: sy.LabelledPool, names: list[str]) -> dict[str, Outcome]:
    """What majority and every rule get right [Q]; questions that none of these LLMs answered are wrong."""
    part = pool.from_sources(names)
    new = part.unlabelled()
    place = np.flatnonzero(np.isin(np.asarray(pool.questions), np.asarray(part.questions)))
    votes: dict[str, sy.Method] = {"majority": sy.MajorityVote()}
    votes |= {rule: sy.ConsensusVote(rule=rule).fit(new) for rule in RULES}
    found = {}
    for way, vote in votes.items():
        found[way] = np.zeros(pool.n_questions)
        found[way][place] = vote.predict(new).correct(part)
    return found
