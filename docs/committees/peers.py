"""Votes without labels beside each other on all questions: ours, and crowd-kit's where it is installed.

crowd-kit 1.4 needs scikit-learn < 1.6, so it has an environment of its own:
`pip install . crowd-kit 'scikit-learn<1.6'`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import steelyard as sy
from docs.committees.cells import mean_and_error

CLOSED = {"mmlu"}  # the same few answers to every question: what Dawid-Skene needs
Codes = NDArray[np.int64]  # [Q] the code of the answer that won


def peers(name: str, pool: sy.LabelledPool) -> pl.DataFrame:
    """Accuracy on all questions, the difference to `consensus`, and the seconds each took."""
    new = pool.unlabelled()
    ways: dict[str, Callable[[], Codes]] = {
        "majority": lambda: sy.MajorityVote().predict(new).code.astype(np.int64),
        "consensus": lambda: sy.ConsensusVote().fit(new).predict(new).code.astype(np.int64),
        **_crowd_kit(pool, closed=name in CLOSED),
    }
    right, seconds = {}, {}
    for way, vote in ways.items():
        begin = time.process_time()
        code = vote()
        seconds[way] = time.process_time() - begin
        right[way] = (pool.answer_correct[pool.base + np.maximum(code, 0)] & (code >= 0)).astype(np.float64)
    return pl.DataFrame(list(_rows(name, right, seconds)))


def _rows(name: str, right: dict[str, NDArray[np.float64]], seconds: dict[str, float]) -> Iterator[dict[str, Any]]:
    for way, outcome in right.items():
        accuracy, error = mean_and_error([outcome])
        behind, se = mean_and_error([right["consensus"] - outcome])
        row = {"set": name, "way": way, "accuracy": accuracy, "se": error, "behind": behind, "behind_se": se}
        yield row | {"seconds": round(seconds[way], 2)}


def _crowd_kit(pool: sy.LabelledPool, *, closed: bool) -> dict[str, Callable[[], Codes]]:
    """crowd-kit's aggregations by name; none where it is not installed."""
    try:
        import crowdkit.aggregation as crowd  # type: ignore[import-not-found]
        import pandas as pd
    except ImportError:
        return {}
    if pool.source is None or pool.names is None:
        raise AssertionError("this pool has no sources, or no names of answers")
    question = pool.spread(np.arange(pool.n_questions))[pool.readable]
    place = (pool.spread(pool.base) + pool.answer)[pool.readable]
    label = np.asarray(pool.names)[place] if closed else place
    votes = pd.DataFrame({"task": question, "worker": pool.source[pool.readable], "label": label})

    at = dict(zip(zip(question.tolist(), label.tolist(), strict=True), place.tolist(), strict=True))

    def decided(aggregation: Any) -> Codes:
        code = np.full(pool.n_questions, -1, np.int64)
        for task, chosen in aggregation.fit_predict(votes).items():
            if (task, chosen) in at:
                code[task] = at[task, chosen] - pool.base[task]
        return code

    kinds = {"Wawa": crowd.Wawa, "ZeroBasedSkill": crowd.ZeroBasedSkill}
    kinds |= {"Dawid-Skene": crowd.DawidSkene} if closed else {}
    return {name: partial(_fresh, decided, kind) for name, kind in kinds.items()}


def _fresh(decided: Callable[[Any], Codes], kind: Callable[[], Any]) -> Codes:
    return decided(kind())
