"""The command that comes next: one that works on what is in a run now."""

from __future__ import annotations

import shlex
from math import ceil
from pathlib import Path

SHARE = 0.3  # of the questions, what evaluate calibrates on
VERDICTS = ("-o", "verdicts.parquet")


def after_generate(folder: Path) -> str:
    """Score the samples by what was recorded with them; without log-probabilities, vote by the majority.

    A server with a verifier of its own is better than both, but nobody knows its address here. Several upstreams need
    no scores: what each is worth is learned from labels, or else from who agrees with whom.
    """
    import polars as pl

    from steelyard.runs.derived_table import FILE
    from steelyard.runs.manifest import Manifest
    from steelyard.runs.parts import is_parted_run

    if is_parted_run(folder):  # its table is made when it is read, which may take long
        words = ["steelyard", "vote", str(folder), *VERDICTS]
        return f"{shlex.join(words)}, or score it first ('steelyard score' lists the verifiers, and takes --engine too)"
    if len(Manifest.read(folder).sources) > 1:
        return shlex.join(
            ["steelyard", *(_learning(folder) or ("vote", str(folder), "--method", "consensus", *VERDICTS))]
        )
    if not (folder / FILE).exists():  # it has no table yet
        return shlex.join(["steelyard", "vote", str(folder), *VERDICTS])
    table = pl.scan_parquet(folder / FILE)
    recorded = "self_logprob" in table.collect_schema() and table.select("self_logprob").collect()[:, 0].count() > 0
    words = ["score", str(folder), "--verifier", "logprob"] if recorded else ["vote", str(folder), *VERDICTS]
    return shlex.join(["steelyard", *words]) + ", or with another verifier ('steelyard score' lists them)"


def after_score(folder: Path, column: str, similarity: str | None = None) -> str:
    """Measure the methods where enough questions are labelled, fit where they are few, and vote without labels.

    A column with a `similarity` has no scores: the responses are compared by it.
    """
    import polars as pl

    from steelyard.runs.derived_table import FILE
    from steelyard.runs.parts import is_parted_run

    usual = ("vote", str(folder), "--score", column, "--method", "vanilla", *VERDICTS)
    if similarity:
        return shlex.join(["steelyard", "vote", str(folder), "--answers", f"free:{similarity}:{column}", *VERDICTS])
    if is_parted_run(folder):
        return shlex.join(["steelyard", *usual])
    if column not in pl.scan_parquet(folder / FILE).collect_schema():  # nothing could be scored
        return shlex.join(["steelyard", "vote", str(folder), *VERDICTS])
    return shlex.join(["steelyard", *(_learning(folder, column) or usual)])


def _learning(folder: Path, column: str | None = None) -> tuple[str, ...]:
    """The words that measure or fit methods by the labels of a run; none where the labels are too few."""
    from steelyard.voting.methods.base.calibration_checks import FEWEST_QUESTIONS

    score = () if column is None else ("--score", column)
    questions = _labelled(folder, column)
    if questions >= 2 * ceil(FEWEST_QUESTIONS / SHARE):
        return ("evaluate", str(folder), *score)
    return ("fit", str(folder), *score, "-o", "plan.json") if questions >= FEWEST_QUESTIONS else ()


def _labelled(folder: Path, column: str | None) -> int:
    """How many questions of a run have labels, and scores in a column, that something can be learned from."""
    import polars as pl

    from steelyard.runs.derived_table import FILE

    if not (folder / FILE).exists():  # it has no table yet
        return 0
    table = pl.scan_parquet(folder / FILE)
    label = next((name for name in ("correct", "gold") if name in table.collect_schema()), None)
    if label is None:
        return 0
    columns = [label] if column is None else [label, column]
    rows = table.filter(pl.all_horizontal(pl.col(columns).is_not_null())).select("question", label).collect()
    differ = label == "gold" or rows[label].n_unique() == 2  # what a gold answer makes of responses, nobody knows
    return rows["question"].n_unique() if differ else 0
