"""Tables that say who answered."""

from __future__ import annotations

import warnings

import polars as pl
import pytest

import steelyard as sy
from steelyard.foundation.errors import SteelyardNote
from tests.committees import committee, pool
from tests.running import steelyard

TABLE = committee({"ant": 0.8, "bee": 0.6}, 12)


def test_the_source_of_every_response_is_read_whatever_the_order_of_the_rows() -> None:
    straight = pool(TABLE)
    mixed = pool(TABLE.sample(fraction=1, shuffle=True, seed=3))
    assert straight.sources == mixed.sources == ("ant", "bee")
    for read in (straight, mixed):
        found = {
            (str(read.questions[q]), read.sources[read.source[i]], read.names[int(read.base[q] + read.answer[i])])  # type: ignore[index]
            for q in range(read.n_questions)
            for i in range(read.starts[q], read.starts[q + 1])
        }
        assert found == set(TABLE.select("question", "llm", "answer").iter_rows())


def test_any_column_can_be_the_source_and_a_number_is_then_no_score() -> None:
    table = TABLE.with_columns(temperature=pl.when(pl.col("llm") == "ant").then(0.2).otherwise(0.9)).drop("llm")
    read = sy.read(table, source="temperature", answers="exact", need_score=False)
    assert (read.sources, read.scores) == (("0.2", "0.9"), None)


def test_each_source_numbers_its_own_samples_and_a_pair_that_comes_twice_is_one_line() -> None:
    with pytest.raises(sy.TableError, match="has sample 0 more than once"):
        sy.read(TABLE, score="none", answers="exact")
    with pytest.raises(sy.TableError, match="has sample 0 of one source more than once"):
        pool(pl.concat((TABLE, TABLE.head(1))))


@pytest.mark.parametrize("batch", [1, 2, 3, 5, 1000])
def test_a_pair_that_comes_twice_is_noticed_across_batches(monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr("steelyard.tables.row_order.BATCH", batch)
    rows = [("q", 0, llm, "1") for llm in ("c", "a", "b")] + [("q", 1, llm, "2") for llm in ("b", "c", "a")]
    table = pl.DataFrame(rows, ["question", "sample", "llm", "answer"], orient="row").with_columns(correct=True)
    read = pool(table)
    assert [read.sources[code] for code in read.source.tolist()] == ["c", "a", "b", "b", "c", "a"]  # type: ignore[union-attr]
    twice = pl.concat((table.head(3), table.head(1), table.tail(3)))
    with pytest.raises(sy.TableError, match="has sample 0 of one source more than once"):
        pool(twice)


def test_several_llms_without_a_source_are_told_that_they_could_be_a_committee() -> None:
    table = committee({"ant": 0.8, "bee": 0.6}, 60).drop("sample").with_columns(score=0.5)
    told = "make them a committee, .* with source='llm'"
    with pytest.warns(sy.SteelyardWarning, match=told):
        sy.paper.PlattVote().fit(sy.read(table, answers="exact"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sy.CommitteeVote().fit(pool(table))
        sy.paper.PlattVote().fit(sy.read(table.with_columns(llm=pl.lit("ant")), answers="exact"))


@pytest.mark.parametrize(
    ("source", "words"),
    [("lm", "did you mean 'llm'"), ("answer", "does not say who answered"), ("part", "some responses have no source")],
)
def test_a_column_that_cannot_be_the_source_is_one_line(source: str, words: str) -> None:
    table = TABLE.with_columns(part=pl.when(pl.col("llm") == "ant").then(pl.lit("x")))
    with pytest.raises(sy.errors.ColumnError, match=words):
        sy.read(table, source=source, score="none", answers="exact")


@pytest.mark.long
def test_the_command_line_fits_votes_and_evaluates_a_committee(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    committee(questions=80).write_parquet("labelled.parquet")
    committee(questions=40, seed=1).drop("correct").write_parquet("new.parquet")
    options = ("--source", "llm", "--answers", "exact")
    fitted = steelyard("fit", "labelled.parquet", *options, "-o", "plan.json")
    assert fitted.code == 0, fitted.err
    assert "What every source is worth" in fitted.out
    assert steelyard("vote", "new.parquet", "--plan", "plan.json", "--answers", "exact", "-o", "v.csv").code == 0
    assert pl.read_csv("v.csv").height == 40  # the plan knows the column of the sources
    few = steelyard("fit", "labelled.parquet", *options, "--unlabelled", "new.parquet", "-o", "few.json")
    assert few.code == 0, few.err
    assert steelyard("fit", "new.parquet", *options, "-o", "free.json").code == 0
    assert sy.load("free.json").name == "consensus"
    assert steelyard("vote", "new.parquet", "--method", "consensus", *options).code == 0
    alone = steelyard("vote", "new.parquet", "--method", "consensus", "--answers", "exact")
    assert (alone.code, "consensus weighs sources: name the column" in alone.err) == (2, True)
    shown = steelyard("evaluate", "labelled.parquet", *options, "-n", "5", "--json")
    assert shown.code == 0, shown.err
    assert '"committee"' in shown.out
    assert '"consensus"' in shown.out


SOURCES = {"ant": 0.95, "bee": 0.9, "cat": 0.3, "dog": 0.3, "elk": 0.3}


def test_several_sources_are_weighted_by_their_agreement_without_a_plan() -> None:
    table, options = committee(SOURCES, 80), {"source": "llm", "answers": "exact"}
    assert sy.vote(table, **options).equals(sy.vote(table, method="consensus", **options))
    assert not sy.vote(table, **options).equals(sy.vote(table, method="majority", **options))


def test_too_few_questions_to_learn_from_are_decided_by_majority_with_a_note() -> None:
    table, options = committee(SOURCES, 12), {"source": "llm", "answers": "exact"}
    with pytest.warns(SteelyardNote, match=r"12 questions are too few .* of 5 sources .* method='consensus'"):
        verdicts = sy.vote(table, **options)
    assert verdicts.equals(sy.vote(table, method="majority", **options))


def test_sources_without_a_response_among_the_first_n_are_not_reported_as_unknown(
    recwarn: pytest.WarningsRecorder,
) -> None:
    assert sy.vote(committee(SOURCES, 40), source="llm", answers="exact", n=3).height == 40
    assert not [warning for warning in recwarn if "does not know" in str(warning.message)]


def test_one_source_is_no_committee() -> None:
    table, options = committee({"ant": 0.8}, 40, samples={"ant": 3}), {"source": "llm", "answers": "exact"}
    assert sy.vote(table, **options).equals(sy.vote(table, method="majority", **options))
