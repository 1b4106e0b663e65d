"""Compiles every loop once, beside the type check, instead of in every worker of the tests: `make compiled`."""

from __future__ import annotations

import polars as pl

import steelyard as sy
from steelyard.answers.similarities.similarity import find_similarity
from steelyard.evaluation.plan_stopping import plan_stopping


def main() -> None:
    """Use every method on a small pool, on scores of single precision, and on several sources."""
    table = sy.simulate(120, 8)
    pool = sy.read_labelled(table)
    sy.evaluate(None, *pool.split(0.5, seed=0), n=[2, 8], resamples=2)
    plan_stopping(pool, sy.CalibratedVote(), samples=4, resamples=2)
    for precision in (pl.Float32, pl.Float64):
        labelled = sy.read_labelled(table.with_columns(pl.col("score").cast(precision)))
        for method in (sy.VanillaVote(), sy.BestOfN(), sy.method_class("borda")()):
            method.predict(labelled.unlabelled())
    named = sy.read_labelled(table.with_columns(("llm-" + pl.col("sample").cast(str)).alias("llm")), source="llm")
    for learned in (sy.CommitteeVote(), sy.ConsensusVote()):
        learned.fit(named).predict(named.unlabelled())
    find_similarity("tokens").matrix(["a response", "another"], None)


if __name__ == "__main__":
    main()
