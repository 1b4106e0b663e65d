"""From files of responses to verdicts, against DuckDB's SQL for the same vote; 100 M rows; and JSON lines.

The sorted file has the rows of each question together, the shuffled one has them anywhere.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import steelyard as sy
from benchmarks.measuring import Cost, Row, at_most, run
from steelyard.voting.pools.scores import expit

ROWS = 10_000_000
N = 32
REPEATS = 3
TIMES = 10  # so many times the rows in the largest file
LINES = 5_000_000  # rows as JSON lines
SORTED, SHUFFLED, LARGEST, JSON = "sorted.parquet", "shuffled.parquet", "largest.parquet", "responses.jsonl"

OURS = """
import steelyard as sy
sy.write(sy.vote("{folder}/{file}", "{folder}/plan.json"), "{folder}/ours.parquet")
"""

# The same weights, the same tie rule: weight, then total score, then votes, then the answer seen first.
SQL = """
import duckdb
duckdb.execute('''copy (
  with scored as (
    select question, trim(answer) as answer, sample, score, greatest(least(score, 1 - {clip}), {clip}) as p
    from '{folder}/{file}' where trim(answer) != ''
  ), counted as (
    select question, answer, sum(ln(p / (1 - p)) - {offset}) as weight, sum(score) as total,
           count(*) as votes, min(sample) as seen
    from scored group by question, answer
  )
  select question, arg_max(answer, row(weight, total, votes, -seen)) as answer from counted group by question
) to '{folder}/theirs.parquet' (format parquet)''')
"""


def make(folder: Path) -> None:
    """Write the files and a plan for them."""
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
    table.write_parquet(folder / SORTED)
    table.sample(fraction=1, shuffle=True, seed=0).write_parquet(folder / SHUFFLED)
    table.head(LINES).write_ndjson(folder / JSON)
    renamed = (pl.format("{}-{}", "question", pl.lit(i)) for i in range(TIMES))
    copies = [pl.scan_parquet(folder / SORTED).with_columns(question=ids) for ids in renamed]
    pl.concat(copies).sink_parquet(folder / LARGEST, maintain_order=True)
    labelled = table.head(100 * N).with_columns(correct=pl.Series(rank[: 100 * N] == 0))
    sy.LogitVote().fit(sy.read(labelled)).save(folder / "plan.json")


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        run(OURS.format(folder=folder, file=JSON))  # loops are compiled once
        measured = [
            *against_duckdb(folder, SORTED, "sorted", 0.5, 0.8),
            *against_duckdb(folder, SHUFFLED, "shuffled", 0.8),
        ]
        largest = run(OURS.format(folder=folder, file=LARGEST))
        measured.append(
            Row(
                f"{TIMES * ROWS // 1_000_000} M sorted rows of Parquet to verdicts: peak memory",
                f"{largest.peak:,.0f} MB ({largest.cpu:.1f} s of CPU)",
                "under 1,000 MB",
                largest.peak < 1000,
            )
        )
        return [*measured, json_lines(folder)]


def against_duckdb(folder: Path, file: str, order: str, cpu_goal: float, peak_goal: float | None = None) -> list[Row]:
    """Vote on a file with both, in turn."""
    plan = sy.load(folder / "plan.json")
    assert isinstance(plan, sy.LogitVote)
    ours_code = OURS.format(folder=folder, file=file)
    sql_code = SQL.format(folder=folder, file=file, clip=plan.clip, offset=plan.offset_)
    pairs = [(run(ours_code), run(sql_code)) for _ in range(REPEATS)]
    ours, theirs = (pl.read_parquet(folder / f"{who}.parquet").sort("question") for who in ("ours", "theirs"))
    same = ours["answer"].equals(theirs["answer"])
    ours_cost, duckdb_cost = (_median(side) for side in zip(*pairs, strict=True))
    what = f"10 M rows of Parquet to verdicts against DuckDB, {order}"
    cpu, peak = ours_cost.cpu / duckdb_cost.cpu, ours_cost.peak / duckdb_cost.peak
    sizes = f"{ours_cost.peak:.0f} MB, DuckDB {duckdb_cost.peak:.0f} MB"
    memory = f"{what}: peak memory"
    return [
        at_most(f"{what}: CPU", cpu, cpu_goal, f"{ours_cost.cpu:.2f} s, DuckDB {duckdb_cost.cpu:.2f} s"),
        at_most(memory, peak, peak_goal, sizes)
        if peak_goal
        else Row(memory, f"{peak:.2f} x ({sizes})", "no goal", True),
        Row(f"{what}: the same answers", "yes" if same else "no", "yes", same),
    ]


def json_lines(folder: Path) -> Row:
    """Vote on JSON lines; start-up is included."""
    size = (folder / JSON).stat().st_size / 1e6
    cost = _median([run(OURS.format(folder=folder, file=JSON)) for _ in range(REPEATS)])
    per_core, cpu = size / cost.cpu, f"{cost.cpu:.1f} s of CPU, {cost.peak:,.0f} MB"
    return Row(
        f"{LINES // 1_000_000} M rows of JSON lines ({size:.0f} MB) to verdicts, for each second of CPU",
        f"{per_core:.0f} MB ({cpu})",
        "at least 150 MB",
        per_core >= 150,
    )


def _median(costs: tuple[Cost, ...] | list[Cost]) -> Cost:
    return Cost(statistics.median(cost.cpu for cost in costs), statistics.median(cost.peak for cost in costs))
