"""The reducers in real runs of Inspect decide as `vote` does on the finished log."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.scorer import CORRECT, INCORRECT, Score

import steelyard as sy
from steelyard.plugins.inspect_reducers import steelyard, steelyard_majority
from tests.plugins.inspect_task import EPOCHS, Reply, replies, run

SCORE = "verified.prm"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan fitted on the log of labelled questions, as a user makes it."""
    folder = tmp_path_factory.mktemp("calibration")
    _, log = run(replies(40, seed=1), "mean", folder)
    vote = sy.LogitVote().fit(sy.read_labelled(log, score=SCORE))
    vote.save(folder / "plan.json")
    return folder / "plan.json"


def reduced(log: EvalLog) -> dict[str, Any]:
    """The reduced scores by question."""
    assert log.status == "success", log.error
    assert log.reductions is not None
    (reduction,) = log.reductions
    return {str(sample.sample_id): sample for sample in reduction.samples}


def assert_same(scores: dict[str, Any], verdicts: pl.DataFrame, *, confidence: bool) -> None:
    """Whether the reducer and the vote on the log gave the same answers, shares and confidences."""
    assert len(scores) == verdicts.height
    for row in verdicts.iter_rows(named=True):
        score = scores[row["question"]]
        panel = score.metadata["panel"]
        assert score.answer == row["answer"]
        assert panel["votes"].count(row["answer"]) == row["votes"]
        assert panel["share"] == pytest.approx(row["share"])
        if confidence:
            assert panel["confidence"] == pytest.approx(row["confidence"])


def test_a_plan_with_a_score_decides_as_on_the_log(plan: Path, tmp_path: Path) -> None:
    log, file = run(replies(25, seed=2), steelyard(plan=str(plan)), tmp_path)
    verdicts = sy.vote(file, plan)
    scores = reduced(log)
    assert_same(scores, verdicts, confidence=True)
    majority = sy.vote(file, method="majority", score="none")
    assert (verdicts["answer"] != majority["answer"]).any()  # the score matters
    pool = sy.read_labelled(file, score=SCORE)
    expected = float(sy.accuracy(sy.load(plan).predict(pool), pool))
    measured = next(score for score in log.results.scores if score.name == "correct")
    assert measured.metrics["accuracy"].value == pytest.approx(expected)
    assert measured.reducer == "steelyard"


def test_the_names_are_found_after_installation(tmp_path: Path) -> None:
    """In a process of its own, where nothing imports the plugin but Inspect."""
    code = """
import sys
from pathlib import Path
from tests.plugins.inspect_task import replies, run
run(replies(6, seed=3), sys.argv[2:], Path(sys.argv[1]))
"""
    names = ["steelyard_majority", "steelyard", "steelyard/steelyard_majority", "steelyard/steelyard"]
    subprocess.run([sys.executable, "-c", code, str(tmp_path), *names], check=True)
    (file,) = tmp_path.glob("*.eval")
    reductions = read_eval_log(str(file)).reductions
    verdicts = sy.vote(file, method="majority", score="none")
    assert reductions is not None
    assert [reduction.reducer for reduction in reductions] == names
    for reduction in reductions:
        assert_same({str(one.sample_id): one for one in reduction.samples}, verdicts, confidence=False)


def test_an_unscored_epoch_casts_no_vote(plan: Path, tmp_path: Path) -> None:
    made = replies(5, seed=4)
    question = next(iter(made))
    good, bad = Reply("The answer is 0.5.", 0.6), Reply("The answer is 12.", None)
    made[question] = [good, Reply(r"The answer is \frac{1}{2}.", 0.6), bad, bad, bad, *[Reply("Who knows?", 0.1)] * 3]
    for reducer, options in (
        (steelyard_majority(answers="math"), {"method": "majority", "score": "none"}),
        (steelyard(plan=str(plan)), {"plan": plan}),
    ):
        log, file = run(made, reducer, tmp_path / str(options.get("method")))
        table = sy.import_table(file).drop_nulls(SCORE)
        assert table.height == 5 * EPOCHS - 3
        scores = reduced(log)
        assert_same(scores, sy.vote(table, **options), confidence="plan" in options)
        panel = scores["1"].metadata["panel"]
        assert scores["1"].answer == "0.5"
        assert panel["size"] == EPOCHS
        assert [failure["index"] for failure in panel["failures"]] == [2, 3, 4]
        assert panel["votes"] == ["0.5", "0.5", None, None, None, None, None, None]


def test_values_of_one_answer_that_differ_are_outvoted() -> None:
    made = [Score(value=value, answer="1/2") for value in (CORRECT, INCORRECT, CORRECT)]
    assert steelyard_majority()(made).value == CORRECT
    assert steelyard_majority()(made[:2]).value == INCORRECT  # a tie is not in favour of the answer


def test_answers_alone_are_not_searched_for_answers() -> None:
    texts = {r"\frac{1}{2}": CORRECT, "2": INCORRECT, "0.5": CORRECT}
    made = [Score(value=value, answer=text) for text, value in texts.items()]
    result = steelyard_majority()(made)
    assert (result.answer, result.value) == (r"\frac{1}{2}", CORRECT)


@pytest.mark.parametrize(
    ("kind", "texts", "answer"),
    [
        ("choice", ["A, C", "C, A", "B"], "A,C"),
        ("auto", ["Paris", "paris.", "London"], "Paris"),
        ("re:=> (.*)", ["x => 5", "y => 5.0", "z => 7"], "5"),
        ("exact", ["b", "Paris", "Paris"], "Paris"),
        ("free", ["Dogs run.", "The cat sat on the mat.", "A cat sat on the mat"], "The cat sat on the mat."),
    ],
)
def test_every_kind_of_answers_votes(kind: str, texts: list[str], answer: str) -> None:
    reduced = steelyard_majority(answers=kind)([Score(value=CORRECT, answer=text) for text in texts])
    assert reduced.answer == answer
    assert reduced.metadata["panel"]["votes"].count(answer) == 2


def test_no_scored_epoch_gives_no_score() -> None:
    result = steelyard_majority()([Score.unscored(reason="grader_failed")] * 2)
    assert result.value != result.value
    assert result.reason == "grader_failed"


def test_a_missing_score_is_refused_with_the_fix(plan: Path) -> None:
    with pytest.raises(sy.TableError, match=r"reads the score 'verified\.prm'.*docs/plugins\.md"):
        steelyard(plan=str(plan))([Score(value=CORRECT, answer="1")])
    with pytest.raises(sy.SettingError, match="needs a score"):
        steelyard(method="vanilla")


def test_a_question_without_readable_answers_has_its_lowest_value() -> None:
    made = [Score(value=value, answer="Who knows?") for value in (CORRECT, INCORRECT, CORRECT)]
    reduced = steelyard_majority(answers="math")(made)
    assert (reduced.answer, reduced.value) == (None, INCORRECT)


def test_values_without_answers_are_refused_if_they_differ() -> None:
    same = steelyard_majority()([Score(value=INCORRECT)] * 3)
    assert (same.answer, same.value) == (None, INCORRECT)
    with pytest.raises(sy.TableError, match=r"set Score\.answer"):
        steelyard_majority()([Score(value=INCORRECT), Score(value=CORRECT)])


def test_the_package_does_not_import_inspect() -> None:
    code = "import sys, steelyard as sy; sy.vote; assert not {'inspect_ai', 'lm_eval'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
