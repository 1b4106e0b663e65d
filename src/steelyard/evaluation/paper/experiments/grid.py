"""What was measured on: every pair with its base figures."""

from __future__ import annotations

import numpy as np
import polars as pl

from steelyard.evaluation.paper.experiment import Experiment, Finding
from steelyard.evaluation.paper.pair_grid import Grid, Settings
from steelyard.evaluation.paper.paper_tables import Shown, by_verifier, count
from steelyard.evaluation.percentages import percent
from steelyard.voting.fitting.score_quality import auroc

NOTE = (
    "AUROC: the chance that a correct response scores above an incorrect one (0.5: no better than chance), within "
    "questions, which is all that can change a vote; in brackets over all responses, which also rewards knowing easy "
    "questions from hard ones. pass@1: share of correct responses in %."
)


def measure(grid: Grid, settings: Settings) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"llm": pair.llm, "verifier": pair.verifier, "questions": pair.pool.n_questions, "n": pair.pool.n,
             "domains": 0 if pair.domains is None else len(set(pair.domains)),
             "pass_at_1": float(pair.pool.correct.mean()), "auroc_within": pair.auroc, "auroc": auroc(pair.pool)}
            for pair in settings.with_progress(grid.pairs)
        ]
    )  # fmt: skip


def find(rows: pl.DataFrame) -> Finding:
    own = pl.col("verifier").str.starts_with("self")
    prm = rows.filter(~own) if rows.filter(~own).height else rows
    within, pooled = (float(np.nanmean(prm[name].to_numpy())) for name in ("auroc_within", "auroc"))
    top = prm.sort("auroc_within", descending=True).row(0, named=True)
    ours = (
        f"{count(rows['llm'].n_unique(), 'model')}, {count(rows['verifier'].n_unique(), 'verifier')}, "
        f"{count(rows.height, 'pair')}, {max(rows['questions'])} questions, {rows['n'][0]} samples each. Within "
        f"questions the verifiers' AUROC is {within:.2f} on average ({pooled:.2f} over all responses); the best pair "
        f"is {top['llm']} with {top['verifier']}, {top['auroc_within']:.2f}."
    )
    quality = "barely tell" if within < 0.6 else "tell" if within < 0.75 else "clearly tell"
    return Finding(
        f"Verifiers of the grid {quality} correct from incorrect within questions ({within:.2f})", ours, None
    )


def show(rows: pl.DataFrame) -> Shown:
    head, lines = by_verifier(rows, lambda row: f"{row['auroc_within']:.2f} ({row['auroc']:.2f})")
    singles = rows.unique("llm", keep="first", maintain_order=True)["pass_at_1"]
    return Shown(head, [["pass@1", *map(percent, singles)], *lines], NOTE, rules=frozenset({1}))


EXPERIMENT = Experiment(
    description="what the grid is: pairs, questions, samples, how well its verifiers discriminate",
    where="Section 5.1",
    paper="5 LLMs (1.5 to 7 billion parameters) and 7 PRMs, on MATH (32 samples) and MATH500 (112 samples).",
    differs="The paper does not report how well its PRMs discriminate within questions.",
    measure=measure,
    find=find,
    show=show,
)
