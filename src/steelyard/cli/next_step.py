"""The command that comes next: one that works on what is in a run now."""

from __future__ import annotations

import shlex
from math import ceil
from pathlib import Path

SHARE = 0.3  # of the questions, what evaluate calibrates on


def after_generate(folder: Path) -> str:
    """Score the samples by what was recorded with them; without log-probabilities, vote by the majority.

    A server with a verifier of its own is better than both, but nobody knows its address here.
    """
    import polars as pl

    from steelyard.runs.derived_table import FILE

    table = pl.scan_parquet(folder / FILE)
    recorded = "self_logprob" in table.collect_schema() and table.select("self_logprob").collect()[:, 0].count() > 0
    words = ["score", str(folder), "--verifier", "logprob"] if recorded else ["vote", str(folder), *VERDICTS]
    return shlex.join(["steelyard", *words])


def after_score(folder: Path, column: str) -> str:
    """Measure the methods where enough questions are labelled, fit where they are few, and vote without labels."""
    import polars as pl

    from steelyard.methods.base.enough import FEWEST_QUESTIONS
    from steelyard.runs.derived_table import FILE

    table = pl.scan_parquet(folder / FILE)
    schema = table.collect_schema()
    if column not in schema:  # nothing could be scored
        return shlex.join(["steelyard", "vote", str(folder), *VERDICTS])
    label, questions = next((name for name in ("correct", "gold") if name in schema), None), 0
    if label:
        scored = (
            table.filter(pl.all_horizontal(pl.col(label, column).is_not_null())).select("question", label).collect()
        )
        differ = label == "gold" or scored[label].n_unique() == 2  # what a gold answer makes of responses, nobody knows
        questions = scored["question"].n_unique() if differ else 0
    words = ["vote", str(folder), "--score", column, "--method", "vanilla", *VERDICTS]
    if questions >= 2 * ceil(FEWEST_QUESTIONS / SHARE):
        words = ["evaluate", str(folder), "--score", column]
    elif questions >= FEWEST_QUESTIONS:
        words = ["fit", str(folder), "--score", column, "-o", "plan.json"]
    return shlex.join(["steelyard", *words])


VERDICTS = ("-o", "verdicts.parquet")
