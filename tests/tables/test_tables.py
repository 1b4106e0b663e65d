"""Tables of every kind become the same pool."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import steelyard as sy
from steelyard.answers.reader import AnswerReader
from steelyard.tables import pools_of, row_order
from steelyard.voting.pools.label_conflicts import LabelConflicts
from steelyard.voting.pools.origin import Origin
from tests.building import Labelled, labelled

TABLE = pl.DataFrame(
    {
        "question": ["b", "b", "b", "a", "a"],
        "sample": [0, 1, 2, 0, 1],
        "answer": ["1/2", " 1/2", None, "x", "y"],
        "correct": [True, True, False, False, True],
        "score": [0.5, 0.25, None, 1.0, float("nan")],
    }
)


def _same(one: sy.Pool, two: sy.Pool) -> None:
    assert one.starts.tolist() == two.starts.tolist()
    assert one.answer.tolist() == two.answer.tolist()
    assert np.array_equal(one.known_scores, two.known_scores, equal_nan=True)
    assert list(one.questions) == list(two.questions)
    assert list(one.names) == list(two.names)
    assert isinstance(one, Labelled) == isinstance(two, Labelled)
    if isinstance(one, Labelled) and isinstance(two, Labelled):
        assert one.correct.tolist() == two.correct.tolist()


def test_a_pool_holds_what_the_table_said() -> None:
    pool = labelled(TABLE)
    assert list(pool.questions) == ["b", "a"]
    assert pool.starts.tolist() == [0, 3, 5]
    assert pool.answer.tolist() == [0, 0, -1, 0, 1]
    assert list(pool.names) == ["1/2", "x", "y"]
    assert pool.correct.tolist() == [True, True, False, False, True]
    assert pool.known_scores[:2].tolist() == [0.5, 0.25]
    assert np.isnan(pool.known_scores[[2, 4]]).all()
    assert repr(pool) == "LabelledPool(2 questions, 5 responses, 1 unreadable, score score)"


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".ndjson", ".csv", ".arrow"])
def test_every_file_format_reads_alike(tmp_path: Path, suffix: str) -> None:
    sy.write(TABLE, tmp_path / f"table{suffix}")
    _same(sy.read(tmp_path / f"table{suffix}"), sy.read(TABLE))


def test_tab_separated_values_and_other_suffixes(tmp_path: Path) -> None:
    TABLE.write_csv(tmp_path / "t.tsv", separator="\t")
    TABLE.write_parquet(tmp_path / "t.pq")
    TABLE.write_ipc(tmp_path / "t.feather")
    for name in ("t.tsv", "t.pq", "t.feather"):
        _same(sy.read(tmp_path / name), sy.read(TABLE))


@pytest.mark.parametrize(
    "convert",
    [
        lambda t: t.lazy(),
        lambda t: t.to_arrow(),
        lambda t: t.to_arrow().to_batches()[0],
        lambda t: t.to_pandas(),
        lambda t: t.to_dicts(),
        lambda t: t.to_dict(as_series=False),
        lambda t: type("Dataset", (), {"to_polars": lambda self: t})(),
    ],
    ids=["lazy", "pyarrow", "record batch", "pandas", "rows", "columns", "datasets"],
)
def test_every_table_in_memory_reads_alike(convert: Any) -> None:
    _same(sy.read(convert(TABLE)), sy.read(TABLE))


def test_a_relation_of_duckdb_is_read(tmp_path: Path) -> None:
    """In a process of its own: at its end duckdb reports objects that it has leaked, which looks like a failure."""
    TABLE.write_parquet(tmp_path / "t.parquet")
    code = "import duckdb, steelyard as sy; print(sy.read(duckdb.from_parquet('t.parquet')).n_responses)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True)
    assert int(done.stdout) == len(TABLE)


def test_pandas_and_pyarrow_objects_are_what_they_say() -> None:
    assert isinstance(TABLE.to_pandas(), pd.DataFrame)
    assert isinstance(TABLE.to_arrow(), pa.Table)


def test_question_ids_and_answers_may_be_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(
        '{"question": 1, "answer": 12, "score": 1}\n\n{"question": 1, "answer": "12", "score": 0.5}\n'
    )
    pool = sy.read(tmp_path / "t.jsonl", score="score")
    assert (list(pool.questions), list(pool.names), pool.answer.tolist()) == (["1"], ["12"], [0, 0])


def test_json_lines_written_by_python_may_hold_nan_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = '\ufeff{"question": "a", "answer": "1", "score": NaN}\n{"question": "a", "answer": "2", "score": 0.5}\n'
    (tmp_path / "t.jsonl").write_text(text)
    assert np.isnan(sy.read(tmp_path / "t.jsonl").known_scores).tolist() == [True, False]


def test_gold_labels_by_the_equality_of_answers() -> None:
    table = TABLE.drop("correct").with_columns(gold=pl.Series([" 1/2 "] * 3 + ["y"] * 2))
    assert labelled(table).correct.tolist() == [True, True, False, False, True]


@pytest.mark.parametrize("values", [[1, 0, 0], ["true", "FALSE", " False "], [1.0, 0.0, 0.0], ["1", "0", "0"]])
def test_labels_may_be_numbers_or_words(values: list[Any]) -> None:
    table = pl.DataFrame({"question": list("abc"), "answer": list("xyz"), "correct": values, "score": [0.5] * 3})
    assert labelled(table, score="score").correct.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        ("prm:last", 0.25),
        ("prm", 0.25),
        ("prm:min", 0.25),
        ("prm:mean", 0.5),
        ("prm:prod", 0.09375),
        ("prm:last ", None),
    ],
)
def test_step_scores_are_reduced_by_name(score: str, expected: float | None) -> None:
    table = pl.DataFrame({"question": ["a"], "answer": ["1"], "prm": [[0.75, 0.5, 0.25]]})
    if expected is None:
        with pytest.raises(sy.errors.ColumnError, match="did you mean 'last'"):
            sy.read(table, score=score)
    else:
        pool = sy.read(table, score=score)
        assert pool.known_scores.tolist() == [expected]
        assert pool.origin.score == ("prm:last" if score == "prm" else score)


def test_steps_that_are_missing_are_passed_over_and_no_steps_is_no_score() -> None:
    steps = [[0.5, None, 0.25, None], [], None, [None], [float("nan"), 0.5]]
    table = pl.DataFrame({"question": list("abcde"), "answer": list("vwxyz"), "prm": steps})
    for reducer, values in {
        "last": [0.25, 0.5],
        "min": [0.25, 0.5],
        "prod": [0.125, 0.5],
        "mean": [0.375, 0.5],
    }.items():
        scores = sy.read(table, score=f"prm:{reducer}").known_scores
        assert scores[[0, 4]].tolist() == values
        assert np.isnan(scores[1:4]).all()


def test_logits_are_read_through_a_sigmoid() -> None:
    table = pl.DataFrame(
        {"question": list("ab"), "answer": list("xy"), "raw": [0.0, 800.0], "steps": [[0.0], [-800.0, 0.0]]}
    )
    assert sy.read(table, score="sigmoid(raw)").known_scores.tolist() == [0.5, 1.0]
    assert sy.read(table, score="sigmoid(steps):min").known_scores.tolist() == [0.5, 0.0]


def test_the_score_is_the_column_score_else_the_only_float_column() -> None:
    base = {"question": ["a"], "answer": ["1"], "tokens": [7.0]}
    assert sy.read(pl.DataFrame(base | {"score": [0.5], "prm": [0.1]})).origin.score == "score"
    assert sy.read(pl.DataFrame(base | {"prm": [0.1]})).origin.score == "prm"
    assert sy.read(pl.DataFrame(base | {"prm": [[0.1]]})).origin.score == "prm:last"
    assert sy.read(pl.DataFrame(base), score="none").scores is None


@pytest.mark.parametrize("values", [[1, 0], [True, False]])
def test_a_column_called_score_is_the_score_also_as_whole_numbers(values: list[Any]) -> None:
    table = pl.DataFrame({"question": ["a", "a"], "answer": ["1", "2"], "score": values})
    assert sy.read(table).known_scores.tolist() == [1.0, 0.0]


def test_file_names_are_names_not_patterns(tmp_path: Path) -> None:
    for suffix in (".parquet", ".csv", ".arrow"):
        sy.write(TABLE, tmp_path / f"r[1]{suffix}")
        sy.write(TABLE.head(1), tmp_path / f"r1{suffix}")
        assert sy.read(tmp_path / f"r[1]{suffix}").n_responses == 5


def test_blank_lines_in_a_csv_are_no_rows(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("question,answer,score\na,1,0.5\n\nb,2,0.25\n\n")
    assert sy.read(tmp_path / "t.csv").n_responses == 2


def test_samples_may_be_any_64_bit_numbers() -> None:
    table = pl.DataFrame(
        {"question": ["a"] * 2, "sample": [2**63 - 1, -(2**63)], "answer": list("xy"), "score": [0.1, 0.2]}
    )
    for rows in ([0, 1], [1, 0]):
        assert sy.read(table[rows]).known_scores.tolist() == [0.2, 0.1]


def test_odd_json_is_read_the_same_by_both_readers(tmp_path: Path) -> None:
    for extra in ("", ', "other": NaN'):
        first = '{"question": "a", "answer": "1", "score": 0.5' + extra + "}\n"
        lone = '{"question": "b", "answer": "x\\ud800y", "score": 0.5}\n'
        (tmp_path / "t.jsonl").write_text(first + lone)
        assert sy.read(tmp_path / "t.jsonl").names.to_list() == ["1", "x\ufffdy"]


@pytest.mark.parametrize("name", ["t.jsonl", "t.json"])
def test_a_name_that_stands_twice_in_an_object_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"question": "a", "answer": "1", "answer": "2", "score": 0.5}\n')
    with pytest.raises(sy.TableError, match="'answer' appears twice in one object"):
        sy.read(tmp_path / name)


def test_a_name_may_stand_again_in_an_inner_object(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"question": "a", "answer": "1", "score": 0.5, "doc": {"answer": "2"}}\n')
    assert sy.read(tmp_path / "t.jsonl").names.to_list() == ["1"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "question,answer,score\na,1,0.5\n"),
        ("t.jsonl", '{"question": "a", "answer": "1", "score": 0.5}\n'),
        ("t.json", '[{"question": "a", "answer": "1", "score": 0.5}]'),
    ],
)
def test_a_text_in_utf_16_is_refused_with_what_to_do(tmp_path: Path, encoding: str, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding)
    with pytest.raises(sy.TableError, match=r"is encoded in UTF-16.*as UTF-8"):
        sy.read(tmp_path / name)


def test_a_score_of_which_less_is_better_is_turned_around() -> None:
    table = pl.DataFrame(
        {"question": ["a"] * 2, "answer": list("xy"), "risk": [0.25, 1.0], "steps": [[0.5, 0.25], [0]]}
    )
    assert sy.read(table, score="1-risk").known_scores.tolist() == [0.75, 0.0]
    assert sy.read(table, score="1 - steps:min").known_scores.tolist() == [0.5, 1.0]
    assert sy.read(table, score="1-risk/2").known_scores.tolist() == [0.875, 0.5]
    assert sy.read(table, score="1-sigmoid(risk)").known_scores.tolist() == pytest.approx([0.4378235, 0.2689414])
    with pytest.raises(sy.errors.ScoreError, match=r"score='1-loss/100'"):
        sy.read(table.with_columns(loss=pl.Series([90.0, 20.0])), score="1-loss")
    with pytest.raises(sy.errors.ColumnError, match="no score column 'rsk'"):
        sy.read(table, score="1-rsk")


def test_columns_with_odd_names_are_found_as_they_are() -> None:
    table = pl.DataFrame({"question": ["a"], "answer": ["1"], "prm:min": [0.5], "sigmoid(x)": [0.25]})
    assert sy.read(table, score="prm:min").known_scores.tolist() == [0.5]
    assert sy.read(table, score="sigmoid(x)").known_scores.tolist() == [0.25]


def test_rename_maps_their_names_to_ours() -> None:
    theirs = TABLE.rename({"question": "question_id", "answer": "final"}).with_columns(question=pl.lit("old"))
    _same(sy.read(theirs, rename={"question_id": "question", "final": "answer"}), sy.read(TABLE))


def test_scattered_rows_are_brought_together_in_the_order_of_samples() -> None:
    mixed = TABLE[[4, 2, 0, 3, 1]]
    pool = sy.read(mixed)
    assert list(pool.questions) == ["a", "b"]
    assert pool.known_scores[[0, 2, 3]].tolist() == [1.0, 0.5, 0.25]


def test_without_sample_numbers_the_order_of_the_rows_counts() -> None:
    pool = sy.read(TABLE.drop("sample")[[3, 0, 4, 1, 2]])
    assert list(pool.questions) == ["a", "b"]
    assert pool.known_scores[[0, 2, 3]].tolist() == [1.0, 0.5, 0.25]


@pytest.mark.parametrize("batch", [1, 2, 3, 7, 1000])
def test_batches_of_any_size_give_the_same_pool(monkeypatch: pytest.MonkeyPatch, batch: int, tmp_path: Path) -> None:
    table = sy.simulate(30, 5, seed=8)
    table.write_parquet(tmp_path / "t.parquet", row_group_size=11)
    whole = sy.read(table)
    monkeypatch.setattr(row_order, "BATCH", batch)
    _same(sy.read(tmp_path / "t.parquet"), whole)
    seen: list[float] = []
    pools = pools_of(tmp_path / "t.parquet", progress=seen.append)
    assert sum(pool.n_questions for pool in pools) == 30
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_a_question_that_comes_back_in_a_later_batch_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_order, "BATCH", 4)
    table = sy.simulate(10, 6, seed=8)
    there_and_back = pl.concat((table.head(33), table.tail(27).sort("sample", maintain_order=True)))
    _same(sy.read(there_and_back.sort("question", "sample")), sy.read(table))
    assert sy.read(there_and_back).n_questions == 10


@pytest.mark.parametrize("order", ["question", "sample"])
@pytest.mark.parametrize("batch", [1, 4, 7, 1000])
def test_every_question_is_in_one_pool_with_all_its_samples(
    monkeypatch: pytest.MonkeyPatch, batch: int, order: str
) -> None:
    monkeypatch.setattr(row_order, "BATCH", batch)
    table = sy.simulate(10, 6, seed=8).sort(order, maintain_order=True)
    found = list(pools_of(table))
    assert [size for pool in found for size in pool.sizes] == [6] * 10
    names = pl.concat([pool.questions for pool in found])
    assert names.to_list() == table["question"].unique(maintain_order=True).to_list()


def test_the_order_is_settled_before_the_first_pool_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_order, "BATCH", 4)
    table = sy.simulate(10, 6, seed=8)
    twice = pl.concat((table, table.tail(1)))
    with pytest.raises(sy.TableError, match="has sample 5 more than once"):
        next(pools_of(twice))
    nobody = table.with_columns(question=pl.when(pl.int_range(pl.len()) < 59).then("question"))
    with pytest.raises(sy.errors.ColumnError, match="no question id"):
        next(pools_of(nobody))


def test_rows_that_come_in_another_order_the_second_time_are_noticed() -> None:
    table = sy.simulate(4, 3, seed=8).select("question", "answer")
    order = row_order.order_of(table.lazy(), [pl.col("question")])
    reader = AnswerReader("math")
    for other in (table.reverse(), table.head(11), pl.concat((table, table.head(1)))):
        ordered = row_order.Ordered(other.lazy(), [pl.col("question"), pl.col("answer")], order)
        with pytest.raises(sy.TableError, match="or the table changed; run it again"):
            list(row_order.pools(ordered, Origin(None), reader, None, LabelConflicts()))


def test_batches_that_end_early_each_time_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of a damaged file do: a thread of polars panics, and the batches just end."""
    batches_of = pl.LazyFrame.collect_batches

    def some(frame: pl.LazyFrame, **options: Any) -> Iterator[pl.DataFrame]:
        yield next(iter(batches_of(frame, **options))).head(12)

    monkeypatch.setattr(pl.LazyFrame, "collect_batches", some)
    with pytest.raises(sy.TableError, match="only read in part"):
        sy.read(sy.simulate(4, 6, seed=8))


def test_the_name_of_the_only_llm_is_kept() -> None:
    assert sy.read(TABLE.with_columns(llm=pl.lit("m"))).origin.llm == "m"
    assert sy.read(TABLE.with_columns(llm=pl.Series(list("mmmnn")))).origin.llm is None


def test_verdicts_are_written_and_read_back(tmp_path: Path) -> None:
    verdicts = sy.MajorityVote().predict(sy.read(TABLE)).to_polars()
    assert verdicts.columns == ["question", "answer", "confidence", "share", "margin", "votes", "responses"]
    sy.write(verdicts, tmp_path / "v.parquet")
    assert pl.read_parquet(tmp_path / "v.parquet").equals(verdicts)


def test_first_and_take_and_split_keep_whole_questions() -> None:
    pool = labelled(TABLE)
    assert pool.first(2).answer.tolist() == [0, 0, 0, 1]
    assert pool.first(99) is pool
    assert list(pool.take([1]).questions) == ["a"]
    with pytest.raises(sy.SettingError, match="at least 1"):
        pool.first(0)
    for fraction in (0.0, 1.0, 5.0, -1.0):
        with pytest.raises(sy.SettingError, match="leaves one side empty"):
            pool.split(fraction, seed=0)


def test_a_plan_for_one_number_and_a_table_of_steps_are_told_apart() -> None:
    numbers = sy.simulate(60, 4, seed=1).rename({"score": "prm"})
    steps = numbers.with_columns(prm=pl.concat_list("prm", "prm"))
    by_number, by_steps = (sy.CalibratedVote().fit(sy.read_labelled(table)) for table in (numbers, steps))
    with pytest.raises(sy.PlanError, match="one number per response in 'prm', and here it is a list of step scores"):
        sy.vote(steps, by_number)
    with pytest.raises(sy.SteelyardError, match="fitted on step scores, 'prm:last', and this table has one number"):
        sy.vote(numbers, by_steps)
