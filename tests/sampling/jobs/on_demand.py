"""A run whose questions differ in how much of them a verifier must read, and plans that say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import steelyard as sy
from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run
from steelyard.sampling.verifiers.protocols import p_true
from tests.sampling.verifiers.fault_verifier import share

COLUMN = "p-true"


def mixed_run(folder: Path, *, questions: int = 6, samples: int = 8, copies: bool = False) -> Path:
    """A run of which every ninth question, the first too, is unanimous, and the others are contested, more or less."""
    ids = [f"q{i}" for i in range(questions)]
    table = pl.DataFrame(
        {
            "question": ids,
            "prompt": [f"What is {i} + 1?" for i in range(questions)],
            "gold": [str(i + 1) for i in range(questions)],
        }
    )
    records = [
        {
            "kind": "sample", "question": name, "sample": j,
            "response": f"Try {0 if copies else j}.\n\nThe answer is \\boxed{{{i + 1 + (j < i % 9)}}}.",
            "finish": "stop", "tokens": 10, "logprob": -0.1 * (1 + j), "seed": j, "attempts": 1, "model": "m",
        }
        for i, name in enumerate(ids)
        for j in range(samples)
    ]  # fmt: skip
    with Run.start(folder, Manifest("0" * 64, "m", samples), table) as run:
        run.add_now(records)
    return folder


def scores_of(run: Path) -> pl.DataFrame:
    """Every response of a run with the score that the fault verifier gives it."""
    rows = sy.read(run, score="none").n_responses
    table = pl.read_parquet(run / "table.parquet")
    texts = [p_true.render(row["prompt"], [row["response"]])[0]["content"] for row in table.iter_rows(named=True)]
    assert table.height == rows
    return table.with_columns(pl.Series(COLUMN, [[share(text)] for text in texts])).drop(
        f"{COLUMN}:scored", strict=False
    )


def plan_for(path: Path, score: str = COLUMN, method: str = "calibrated", *, expected: bool = False) -> Path:
    """A plan by scores that help: fitted on a simulated world."""
    table = sy.simulate(60, 8, seed=3).with_columns(pl.concat_list("score").alias(score)).drop("score")
    pool = sy.read_labelled(table, score=score)
    vote: Any = sy.method_class(method)().fit(pool)
    if expected:
        from steelyard.evaluation.scores_on_demand import learn_asking

        vote = learn_asking(vote, pool, price=0.0001)
    vote.save(path)
    return path


def verdicts_with_all_scores(run: Path, plan: Path) -> list[Any]:
    return sy.vote(scores_of(run), plan, score=COLUMN)["answer"].to_list()


def asked_in(run: Path, column: str = COLUMN) -> list[bool]:
    flags = pl.read_parquet(run / "table.parquet")[f"{column}:scored"]
    return [bool(flag) for flag in np.asarray(flags)]
