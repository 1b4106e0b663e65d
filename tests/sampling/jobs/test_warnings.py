"""What must not go by in silence: scores that are missing or too good, rows that are there twice, mixed LLMs."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from tests.building import labelled
from tests.running import steelyard

TABLE = sy.simulate(80, 8, seed=4)
LEAK = "may be the label in disguise"
TWICE = "the rows seem to be duplicated"


def said(work: object) -> list[str]:
    """The warnings of a piece of work."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()  # type: ignore[operator]
    return [str(each.message) for each in caught]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    sy.write(TABLE, "table.parquet")
    labelled("table.parquet")
    sy.LogitVote().fit(labelled("table.parquet")).save("plan.json")
    return tmp_path


def test_a_plan_without_a_single_score_to_weigh_by_says_so(here: Path) -> None:
    sy.write(TABLE.with_columns(score=pl.lit(None, pl.Float64)), "unscored.parquet")
    done = steelyard("vote", "unscored.parquet", "--plan", "plan.json")
    assert done.code == 0
    assert "every score 'score' is missing, but the plan needs it: all responses weigh the same" in done.err
    compared = steelyard("compare", "plan.json", "majority", "--on", "unscored.parquet")
    assert "every score 'score' is missing" in compared.err
    half = pl.when(pl.col("sample") > 3).then("score")
    sy.write(TABLE.with_columns(half.alias("score")), "unscored.parquet")
    assert "is missing" not in steelyard("vote", "unscored.parquet", "--plan", "plan.json").err
    assert "is missing" not in steelyard("vote", "unscored.parquet", "--method", "majority").err


@pytest.mark.parametrize(
    "score",
    [
        pl.col("correct").cast(pl.Float64),
        0.3 + 0.4 * pl.col("correct").cast(pl.Float64) + 0.01 * pl.col("score"),
        1 - pl.col("correct").cast(pl.Float64),
    ],
    ids=["label", "shifted", "opposite"],
)
def test_a_score_that_is_the_label_in_disguise_is_named_by_fit_and_evaluate(here: Path, score: pl.Expr) -> None:
    sy.write(TABLE.with_columns(reward=score), "leak.parquet")
    for words in (["fit", "--method", "logit"], ["evaluate", "--method", "majority,vanilla", "--resamples", 0]):
        done = steelyard(words[0], "leak.parquet", "--score", "reward", *words[1:])
        assert done.code == 0
        assert "the score 'reward' separates the correct from the incorrect responses of nearly every" in done.err
        assert LEAK in done.err
        assert LEAK not in steelyard(words[0], "leak.parquet", "--score", "score", *words[1:]).err


def test_of_several_scores_the_leaked_one_is_named() -> None:
    pool = labelled(TABLE.with_columns(gold_match=pl.col("correct").cast(pl.Float64)), score="score+gold_match")
    (text,) = (text for text in said(lambda: sy.LogitVote().fit(pool)) if LEAK in text)
    assert "the score 'gold_match'" in text


def test_a_very_good_verifier_and_a_small_table_are_not_suspected() -> None:
    rng = np.random.default_rng(0)
    noise = pl.Series(rng.normal(0, 0.25, TABLE.height))
    good = TABLE.with_columns(score=(pl.col("correct") * 0.8 + 0.1 + noise).clip(0, 1))
    from steelyard.voting.fitting.score_quality import auroc_within

    assert auroc_within(labelled(good)) > 0.97
    assert not [text for text in said(lambda: sy.LogitVote().fit(labelled(good))) if LEAK in text]
    few = TABLE.filter(pl.col("question").is_in(TABLE["question"].unique().head(15).implode()))
    leak = labelled(few.with_columns(score=pl.col("correct").cast(pl.Float64)))
    assert not [text for text in said(lambda: sy.LogitVote().fit(leak)) if LEAK in text]


@pytest.mark.parametrize("how", ["joined", "doubled", "renumbered", "thrice"])
def test_rows_that_are_there_twice_are_noticed(how: str) -> None:
    rows = TABLE.drop("sample")
    table = {
        "joined": lambda: pl.concat([rows, rows]),
        "doubled": lambda: rows.select(pl.all().repeat_by(2)).explode(rows.columns),
        "renumbered": lambda: pl.concat([TABLE, TABLE.with_columns(pl.col("sample") + 8)]),
        "thrice": lambda: pl.concat([rows, rows, rows]),
    }[how]()
    (text,) = said(lambda: sy.read(table))
    assert "every row has a twin with the same answer and score in" in text
    assert TWICE in text
    assert [text for text in said(lambda: sy.vote(table)) if TWICE in text], "and by vote, a batch at a time"


def test_samples_that_happen_to_be_equal_are_no_doubled_rows() -> None:
    assert not said(lambda: sy.read(TABLE.drop("sample")))
    answers = TABLE.select("question", "answer")
    assert not said(lambda: sy.read(answers, need_score=False))
    for n in (2, 4, 6):
        assert not said(lambda n=n: sy.read(sy.simulate(300, n, seed=n).select("question", "answer"), need_score=False))
    greedy = pl.DataFrame({"question": [f"q{i // 4}" for i in range(400)], "answer": [str(i // 4) for i in range(400)]})
    assert not said(lambda: sy.read(greedy, need_score=False))


def test_the_same_sample_twice_is_refused() -> None:
    with pytest.raises(sy.TableError, match="has sample 0 more than once"):
        sy.read(pl.concat([TABLE, TABLE]))


def test_several_llms_under_one_plan_are_named(here: Path) -> None:
    one = TABLE.with_columns(llm=pl.lit("qwen"))
    two = TABLE.with_columns(llm=pl.when(pl.col("sample") < 4).then(pl.lit("qwen")).otherwise(pl.lit("llama")))
    sy.write(one, "one.parquet")
    sy.write(two, "two.parquet")
    assert "LLM" not in steelyard("fit", "one.parquet", "--method", "logit", "-o", "one.json").err
    fitted = steelyard("fit", "two.parquet", "--method", "logit", "-o", "two.json")
    assert "the calibration responses are of 2 LLMs (llama, qwen), and one plan is fitted for all of them" in fitted.err
    assert "LLM" not in steelyard("vote", "one.parquet", "--plan", "one.json").err
    voted = steelyard("vote", "two.parquet", "--plan", "one.json")
    assert "the plan was fitted on responses of qwen, and these are of 2 LLMs (llama, qwen), which" in voted.err
    other = TABLE.with_columns(llm=pl.lit("llama"))
    assert "the plan was fitted on responses of qwen, these are of llama" in said(lambda: sy.vote(other, "one.json"))[0]


def test_an_n_beyond_what_there_is_is_said(here: Path) -> None:
    beyond = "n = 64 is more than there is: no question has more than 8 samples"
    for words in (
        ["vote", "table.parquet"],
        ["fit", "table.parquet", "--method", "logit"],
        ["compare", "majority", "vanilla", "--on", "table.parquet"],
        ["plan-budget", "table.parquet", "--budget", 3, "--method", "vanilla"],
    ):
        done = steelyard(*words, "-n", 64)
        assert (done.code, beyond in done.err) == (0, True), words
        assert "more than there is" not in steelyard(*words, "-n", 8).err
    refused = steelyard("evaluate", "table.parquet", "-n", 64)
    assert refused.code == 2
    assert "n must lie between 1 and 8" in refused.err
    uneven = TABLE.filter((pl.col("question") != TABLE["question"][0]) | (pl.col("sample") < 5))
    assert "1 of 80 questions have fewer than n = 8 samples: they vote with what they have" in said(
        lambda: sy.vote(uneven, n=8)
    )


def test_that_there_is_nothing_to_learn_is_reported_once_for_several_methods(here: Path) -> None:
    right_first = TABLE.filter((pl.col("sample") > 0) | pl.col("correct"))
    kept = right_first.filter(pl.col("question").is_in(right_first.filter(pl.col("sample") == 0)["question"].to_list()))
    sy.write(kept, "easy.parquet")
    done = steelyard("evaluate", "easy.parquet", "--method", "logit,linear,kde", "-n", "1,8", "--resamples", 0)
    assert done.code == 0, done.err
    lines = [line for line in done.err.splitlines() if "there is nothing to learn" in line]
    assert len(lines) == 1
    assert "beyond majority vote" in lines[0]
    few = steelyard("evaluate", "easy.parquet", "--method", "logit,linear,kde", "--calibrate", 0.1)
    assert few.code == 2
    assert "left out" not in few.err, "an error needs no list of warnings before it"


def test_the_command_line_says_the_same_warning_once_and_counts(here: Path) -> None:
    alike = sy.simulate(60, 4, seed=1).with_columns(answer=pl.lit("1"), correct=pl.lit(value=True))
    sy.write(alike, "alike.parquet")
    done = steelyard("evaluate", "alike.parquet", "--method", "logit,calibrated", "--resamples", 0)
    assert done.code == 0
    lines = [line for line in done.err.splitlines() if "every scored response to the 18" in line]
    assert len([line for line in lines if line.startswith("warning: every scored response to the 18")]) == 1
    (counted,) = lines[1:]
    assert re.fullmatch(r"warning: repeated [2-9] times: every scored response to the 18 .+…", counted)
