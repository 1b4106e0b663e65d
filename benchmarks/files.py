"""From a Parquet file of ten million rows to verdicts, against DuckDB's SQL for the same vote."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import steelyard as sy
from benchmarks.measuring import Row, at_most, run
from steelyard.voting.pools.scores import expit

ROWS = 10_000_000
N = 32

OURS = """
import steelyard as sy
sy.write(sy.vote("{folder}/responses.parquet", "{folder}/plan.json"), "{folder}/ours.parquet")
"""

# The same weights, the same tie rule: weight, then total score, then votes, then the answer seen first.
SQL = """
import duckdb
duckdb.execute('''copy (
  with scored as (
    select question, trim(answer) as answer, sample, score, greatest(least(score, 1 - {clip}), {clip}) as p
    from '{folder}/responses.parquet' where trim(answer) != ''
  ), counted as (
    select question, answer, sum(ln(p / (1 - p)) - {offset}) as weight, sum(score) as total,
           count(*) as votes, min(sample) as seen
    from scored group by question, answer
  )
  select question, arg_max(answer, row(weight, total, votes, -seen)) as answer from counted group by question
) to '{folder}/theirs.parquet' (format parquet)''')
"""


def make(folder: Path) -> None:
    """Write the file and a plan for it."""
    rng = np.random.default_rng(0)
    rank = np.minimum(rng.geometric(0.3, ROWS) - 1, 20)
    question = np.repeat(np.arange(ROWS // N), N)
    table = pl.DataFrame(
        {
            "question": "q" + pl.Series(question).cast(pl.String),
            "sample": np.tile(np.arange(N, dtype=np.int32), ROWS // N),
            "answer": pl.Series(question * 7919 % 9973 + rank * 13).cast(pl.String),
            "score": expit(rng.normal(0, 1.5, ROWS) + (rank == 0)),
        }
    )
    table.write_parquet(folder / "responses.parquet")
    labelled = table.head(100 * N).with_columns(correct=pl.Series(rank[: 100 * N] == 0))
    sy.LogitVote().fit(sy.read(labelled)).save(folder / "plan.json")


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        plan = sy.load(folder / "plan.json")
        assert isinstance(plan, sy.LogitVote)
        ours_code = OURS.format(folder=folder)
        sql_code = SQL.format(folder=folder, clip=plan.clip, offset=plan.offset_)
        pairs = [(run(ours_code), run(sql_code)) for _ in range(5)]
        ours, theirs = (pl.read_parquet(folder / f"{who}.parquet").sort("question") for who in ("ours", "theirs"))
        same = ours["answer"].equals(theirs["answer"])
    cpu = [statistics.median(cost.cpu for cost in side) for side in zip(*pairs, strict=True)]
    peak = [statistics.median(cost.peak for cost in side) for side in zip(*pairs, strict=True)]
    what = "10 M rows of Parquet to verdicts against DuckDB"
    return [
        at_most(f"{what}: CPU", cpu[0] / cpu[1], 1, f"{cpu[0]:.2f} s, DuckDB {cpu[1]:.2f} s"),
        at_most(f"{what}: peak memory", peak[0] / peak[1], 1, f"{peak[0]:.0f} MB, DuckDB {peak[1]:.0f} MB"),
        Row(f"{what}: the same answers", "yes" if same else "no", "yes", same),
    ]
