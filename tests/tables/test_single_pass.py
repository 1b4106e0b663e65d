"""A vote reads a table in order once; any other table is read as if that had not been tried."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.tables import reading, row_order
from steelyard.tables.scattered_rows import BATCH
from steelyard.tables.sources import parquet_slices

N = 9
TABLE = sy.simulate(40, N, seed=3).drop("correct")


def voted(table: Any, **options: Any) -> tuple[Any, list[str], list[float]]:
    """The verdicts of a majority vote, or its error; its warnings and its progress."""
    progress: list[float] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            verdicts = sy.vote(table, method="vanilla", progress=progress.append, **options).to_dict(as_series=False)
        except sy.errors.SteelyardError as error:
            return f"{type(error).__name__}: {error}", [str(item.message) for item in caught], []
    return verdicts, [str(item.message) for item in caught], progress


def in_two_passes(monkeypatch: pytest.MonkeyPatch, table: Any, **options: Any) -> tuple[Any, list[str], list[float]]:
    with monkeypatch.context() as patched:
        patched.setattr(reading.PreparedTable, "is_plain", lambda table: False)
        return voted(table, **options)


@pytest.fixture(params=[1, 7, 9, 18, 20, 1000])
def batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(row_order, "BATCH", request.param)
    monkeypatch.setattr(parquet_slices, "ROWS", (request.param, request.param))
    return int(request.param)


def row(frame: pl.DataFrame, index: int, **values: Any) -> pl.DataFrame:
    """The table with other values in one row."""
    here = pl.int_range(pl.len()) == index
    return frame.with_columns(
        pl.when(here).then(pl.lit(value, frame.schema[name])).otherwise(name).alias(name)
        for name, value in values.items()
    )


LONG = TABLE.with_columns(question="a question with a long id, " + pl.col("question"))
TABLES = {
    "in order": TABLE,
    "without samples": TABLE.drop("sample"),
    "without scores": TABLE.drop("score"),
    "long ids": LONG,
    "numbers as ids": TABLE.with_columns(pl.col("question").str.strip_prefix("q").cast(pl.Int32)),
    "short numbers": TABLE.with_columns(pl.col("sample").cast(pl.Int16), pl.col("score").cast(pl.Float32)),
    "shuffled": TABLE.sample(fraction=1, shuffle=True, seed=0),
    "by sample": TABLE.sort("sample", maintain_order=True),
    "a question comes back": pl.concat((TABLE.tail(300), TABLE.head(N), TABLE.slice(N, 51), TABLE.head(N))),
    "a question comes back with more": pl.concat((TABLE, TABLE.head(N).with_columns(pl.col("sample") + N))),
    "a sample falls": row(TABLE, 200, sample=0),
    "the last sample falls": row(TABLE, TABLE.height - 1, sample=-1),
    "a sample twice": row(TABLE, 201, sample=2),
    "no sample": row(TABLE, 200, sample=None),
    "no question": row(TABLE, 200, question=None),
    "no question at the end, a score outside at the beginning": row(row(TABLE, 359, question=None), 0, score=2.0),
    "a score outside": row(TABLE, 200, score=1.5),
    "no answer and no score": row(TABLE, 200, answer=None, score=None),
    "placeholders": row(TABLE, 200, answer="N/A"),
    "empty": TABLE.head(0),
    "one question": TABLE.head(N),
    "one row": TABLE.head(1),
    "one response per question": TABLE.filter(pl.col("sample") == 0),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("n", [None, 4])
def test_a_vote_is_the_same_in_one_pass_and_in_two(
    name: str, n: int | None, batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    TABLES[name].write_parquet(tmp_path / "t.parquet", row_group_size=batch + 4)
    for table in (tmp_path / "t.parquet", pl.scan_parquet(tmp_path / "t.parquet")):  # in slices, and as a stream
        assert voted(table, n=n) == in_two_passes(monkeypatch, table, n=n)


def passes(monkeypatch: pytest.MonkeyPatch, table: pl.DataFrame, batch: int = BATCH) -> int:
    """How often a vote reads the rows of a table."""
    batches_of, times = pl.LazyFrame.collect_batches, 0

    def counted(frame: pl.LazyFrame, **options: Any) -> Any:
        nonlocal times
        times += options["chunk_size"] == batch
        return batches_of(frame, **options)

    with monkeypatch.context() as patched:
        patched.setattr(row_order, "BATCH", batch)
        patched.setattr(pl.LazyFrame, "collect_batches", counted)
        voted(table)
    return times


def test_only_a_table_in_order_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert passes(monkeypatch, TABLE) == passes(monkeypatch, LONG) == passes(monkeypatch, TABLE.drop("sample")) == 1
    assert passes(monkeypatch, TABLES["by sample"]) > 1
    assert passes(monkeypatch, TABLES["a question comes back with more"]) > 1


@pytest.mark.parametrize("rows", [N - 1, N, N + 1, 2 * N + 1, TABLE.height - 1])
def test_the_end_of_a_table_is_not_taken_for_many_questions(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert passes(monkeypatch, TABLE.head(rows), batch=N) == passes(monkeypatch, TABLE.head(rows), batch=4 * N) == 1


def test_what_a_first_attempt_counted_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_order, "BATCH", 2 * N)
    rows = np.arange(TABLE.height)
    some = TABLE.with_columns(answer=pl.when(pl.Series(rows % 3 == 0)).then("answer"))
    back = pl.concat((some, some.head(N).with_columns(pl.col("sample") + N)))
    result = voted(back)
    assert result == in_two_passes(monkeypatch, back)
    assert f"of {back.height} responses have no readable answer" in "".join(result[1])


def test_batches_that_end_early_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    batches_of = pl.LazyFrame.collect_batches

    def some(frame: pl.LazyFrame, **options: Any) -> Any:
        yield next(iter(batches_of(frame, **options))).head(2 * N)

    monkeypatch.setattr(pl.LazyFrame, "collect_batches", some)
    with pytest.raises(sy.TableError, match="only read in part"):
        sy.vote(TABLE, method="vanilla")


def test_a_question_of_many_batches_is_in_one_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sy.simulate(3, 100, seed=1).drop("correct")
    assert passes(monkeypatch, table, batch=8) == passes(monkeypatch, table, batch=33) == 1
    monkeypatch.setattr(row_order, "BATCH", 8)
    assert sy.vote(table, method="vanilla")["responses"].to_list() == [100, 100, 100]


def test_an_exception_that_is_not_about_the_table_ends_the_vote() -> None:
    def stop(_fraction: float) -> None:
        raise ZeroDivisionError("stop")

    with pytest.raises(ZeroDivisionError, match="stop"):
        sy.vote(TABLE, method="vanilla", progress=stop)


def test_progress_that_refuses_the_table_is_heard() -> None:
    def refuse(_fraction: float) -> None:
        raise sy.TableError("enough")

    with pytest.raises(sy.TableError, match="enough"):
        sy.vote(TABLE, method="vanilla", progress=refuse)


def test_a_method_that_warns_in_every_batch_warns_once_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = sy.simulate(60, 10, seed=1).drop("correct").with_columns(answer=pl.lit("A"), other=pl.lit("B"))
    frame = frame.with_columns(answer=pl.when(pl.col("sample") % 3 == 0).then("other").otherwise("answer")).drop(
        "other"
    )
    voter = sy.ConsensusVote(rule="dawid-skene").fit(sy.read(frame, need_score=False, answers="choice"))
    monkeypatch.setattr(row_order, "BATCH", 100)
    new = frame.with_columns(answer=pl.when(pl.col("sample") == 3).then(pl.lit("D")).otherwise("answer"))
    back = pl.concat((new, new.head(1).with_columns(sample=pl.lit(99, new.schema["sample"]))))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sy.vote(back, voter)
    rejected = [int(str(item.message).split()[0]) for item in caught if "cannot win" in str(item.message)]
    assert sum(rejected) == new.filter(pl.col("sample") == 3).height
