"""Tables in any order: the rows of a question are brought together, and the verdicts are those of the sorted table."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import steelyard as sy
from steelyard.tables import row_order, scattered_rows
from steelyard.tables.response_rows import texts_of
from steelyard.tables.scattered_rows import QuestionNumbers, group_questions
from steelyard.voting import kernels

ANSWERS = ["7", " 7 ", "7.0", "14/2", "1/2", "0.5", "50%", "x+1", "1+x", "", "None", "[invalid]", None]
SCORES = [0.0, 0.25, 0.5, 1.0, None, float("nan")]
IDS: list[list[Any]] = [["a", "b", "", " b", "a long question id"], [3, -1, 2**40, 0, 7], [0.5, 1.5, -2.25, 3.0, 4.5]]
MANY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """A table of at most 5 questions in any order, with or without sample numbers, with scores or lists of steps."""
    ids = draw(st.sampled_from(IDS))
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=5))
    scale = draw(st.sampled_from([1, 1, -1, 10**12]))
    steps = draw(st.booleans())
    scores = st.lists(st.sampled_from(SCORES[:4]), min_size=1, max_size=3) if steps else st.sampled_from(SCORES)
    rows = [
        {
            "question": ids[q],
            "sample": scale * sample,
            "answer": draw(st.sampled_from(ANSWERS)),
            "score": draw(scores),
        }
        for q, size in enumerate(sizes)
        for sample in range(size)
    ]  # fmt: skip
    order = draw(st.permutations(range(len(rows))))
    schema = {"answer": pl.String, "score": pl.List(pl.Float64) if steps else pl.Float64}
    table = pl.DataFrame([rows[i] for i in order], schema_overrides=schema, infer_schema_length=None)
    return table if draw(st.booleans()) else table.drop("sample")


def plainly_grouped(table: pl.DataFrame) -> pl.DataFrame:
    """The definition of the order: questions by first appearance, then samples, then rows."""
    numbered = table.with_row_index("row").with_columns(pl.col("row").min().over("question").alias("group"))
    return numbered.sort(["group", *(["sample"] if "sample" in table.columns else []), "row"]).drop("row", "group")


@pytest.fixture(params=[1, 3, 100_000])
def batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(scattered_rows, "BATCH", request.param)
    monkeypatch.setattr(row_order, "BATCH", request.param)
    monkeypatch.setattr(scattered_rows, "SMALLEST", 2)
    return int(request.param)


@given(table=tables())
@MANY
def test_rows_are_grouped_by_question_then_by_sample(table: pl.DataFrame, batch: int) -> None:
    rows, questions, starts, checked = group_questions(table.lazy())
    expected = plainly_grouped(table)
    assert rows.collect().equals(expected)
    assert checked
    assert questions.to_list() == table["question"].unique(maintain_order=True).to_list()
    assert expected["question"].gather(starts[:-1]).equals(questions)
    assert starts[-1] == table.height
    assert rows.filter(pl.col("answer") == "7").select("answer").collect().height == (table["answer"] == "7").sum()
    assert rows.head(2).collect().equals(expected.head(2))


def outcome(table: pl.DataFrame, folder: Path, suffix: str, **options: Any) -> bytes | str:
    """The bytes of the verdicts, or the error."""
    source, target = folder / f"table{suffix}", folder / "verdicts.jsonl"
    if suffix == ".parquet":  # small row groups, and dictionaries that overflow to plain pages
        pq.write_table(table.to_arrow(), source, row_group_size=7, dictionary_pagesize_limit=8, data_page_size=8)
    else:
        table.write_ndjson(source)
    try:
        sy.write(sy.vote(source, **options), target, overwrite=True)
    except sy.errors.SteelyardError as error:
        return f"{type(error).__name__}: {error}"
    return target.read_bytes()


@given(table=tables(), suffix=st.sampled_from([".parquet", ".jsonl"]), method=st.sampled_from(["majority", "vanilla"]))
@MANY
@pytest.mark.filterwarnings("ignore")
def test_verdicts_on_a_table_in_any_order_are_those_of_the_sorted_table(
    table: pl.DataFrame, suffix: str, method: str, batch: int, tmp_path: Path
) -> None:
    assert outcome(table, tmp_path, suffix, method=method) == outcome(
        plainly_grouped(table), tmp_path, suffix, method=method
    )


@pytest.mark.filterwarnings("ignore")
def test_files_are_read_together_in_any_order(batch: int, tmp_path: Path) -> None:
    table = sy.simulate(questions=9, samples=5, seed=3).drop("correct")
    shuffled = table.sample(fraction=1, shuffle=True, seed=1)
    paths = [tmp_path / f"{i}.parquet" for i in range(3)]
    for i, path in enumerate(paths):
        shuffled.gather_every(3, i).write_parquet(path)
    expected = sy.vote(plainly_grouped(pl.concat([pl.read_parquet(path) for path in paths])))
    assert sy.vote(list(map(str, paths))).equals(expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pl.when(pl.col("row") == 5).then(None).otherwise("question").alias("question"), "have no question id"),
        (pl.when(pl.col("row") == 5).then(None).otherwise("sample").alias("sample"), "have no sample number"),
        (pl.when(pl.col("row") > 5).then(0).otherwise("sample").alias("sample"), "more than once"),
    ],
)
def test_rows_without_a_number_and_repeated_samples_are_refused(change: pl.Expr, message: str, batch: int) -> None:
    table = sy.simulate(questions=6, samples=4, seed=3).sample(fraction=1, shuffle=True, seed=1)
    with pytest.raises(sy.errors.TableError, match=message):
        sy.vote(table.with_row_index("row").with_columns(change).drop("row"))


def test_numbers_stay_the_same_while_the_table_of_numbers_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scattered_rows, "SMALLEST", 2)
    numbers, ids = QuestionNumbers(), pl.Series([f"q{i % 700}" for i in range(5000)])
    codes = np.concatenate([numbers.add(ids.slice(begin, 37)) for begin in range(0, 5000, 37)])
    assert codes.tolist() == [i % 700 for i in range(5000)]
    assert numbers.total == 700
    assert numbers.heads(ids.clear()).to_list() == ids.head(700).to_list()


def test_keys_with_the_same_first_half_have_different_numbers() -> None:
    keys, checks = np.full(4, 9, np.uint64), np.array([1, 2, 1, 3], np.uint64)
    codes, rows, table = np.empty(4, np.int32), np.empty(4, np.int64), np.zeros((8, 3), np.uint64)
    assert kernels.number_rows(kernels.read_only(keys), kernels.read_only(checks), table, 0, codes, rows) == 3
    assert codes.tolist() == [0, 1, 0, 2]
    assert rows[:3].tolist() == [0, 1, 3]


def test_questions_of_any_size_are_sorted_by_sample() -> None:
    sizes = [1, 2, 63, 64, 65, 1000]
    table = pl.concat(pl.DataFrame({"question": size, "sample": range(size)}) for size in sizes)
    shuffled = table.sample(fraction=1, shuffle=True, seed=5)
    grouped = group_questions(shuffled.lazy())
    assert grouped.checked
    assert grouped.rows.collect().equals(plainly_grouped(shuffled))


def test_a_file_that_ends_early_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sy.simulate(questions=6, samples=4, seed=3).sample(fraction=1, shuffle=True, seed=1)
    group = scattered_rows.group_questions
    monkeypatch.setattr(row_order, "group_questions", lambda table, columns: group(table.head(20), columns))
    with pytest.raises(sy.errors.TableError, match="only read in part"):
        sy.vote(table)


@pytest.mark.parametrize("kind", [pl.Int8, pl.Int16, pl.Int64, pl.UInt64])
def test_texts_are_in_the_order_of_samples_of_any_width(kind: Any) -> None:
    samples = [100, 0, 127] if kind == pl.UInt64 else [100, -100, 0]
    table = pl.DataFrame(
        {
            "question": ["a", "b"] * 3,
            "sample": pl.Series([n for n in samples for _ in range(2)], dtype=kind),
            "response": [f"The answer is {n}" for n in samples for _ in range(2)],
        }
    )
    assert texts_of(table)["response"].to_list()[:3] == [f"The answer is {n}" for n in sorted(samples)]
