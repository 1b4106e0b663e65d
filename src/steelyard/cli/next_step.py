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
    labelled = pl.DataFrame({"question": [], "correct": []})
    if "correct" in schema:
        scored = pl.col("correct").is_not_null() & pl.col(column).is_not_null()
        labelled = table.filter(scored).select("question", "correct").collect()
    questions = labelled["question"].n_unique() if labelled["correct"].n_unique() == 2 else 0
    words = ["vote", str(folder), "--score", column, "--method", "vanilla", *VERDICTS]
    if questions >= 2 * ceil(FEWEST_QUESTIONS / SHARE):
        words = ["evaluate", str(folder), "--score", column]
    elif questions >= FEWEST_QUESTIONS:
        words = ["fit", str(folder), "--score", column, "-o", "plan.json"]
    return shlex.join(["steelyard", *words])


VERDICTS = ("-o", "verdicts.parquet")
