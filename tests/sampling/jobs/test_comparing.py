"""Two voters on the same questions."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import steelyard as sy
from steelyard.answers.equivalence import Worker
from steelyard.evaluation.compare import compare
from tests.building import labelled
from tests.running import steelyard


@pytest.fixture
def file(tmp_path: Path) -> Path:
    sy.write(sy.simulate(200, 8, seed=5), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def test_methods_are_fitted_on_one_part_and_compared_on_the_other(file: Path) -> None:
    found = compare("logit", "majority", on=file, seed=3)
    cal, test = labelled(file).split(0.3, seed=3)
    logit, majority = sy.LogitVote().fit(cal).predict(test), sy.MajorityVote().predict(test)
    assert found.table.height == 140
    assert found.accuracies() == (sy.accuracy(logit, test), sy.accuracy(majority, test))
    difference = found.difference(seed=3)
    expected = sy.evaluation.paired_difference(logit, majority, test, seed=3)
    assert (difference, difference.low, difference.high) == (expected, expected.low, expected.high)
    assert found.differing().height == int((logit.code != majority.code).sum())


def test_a_plan_and_a_file_of_verdicts_say_the_same_as_the_method(file: Path, tmp_path: Path) -> None:
    cal, _ = labelled(file).split(0.3, seed=0)
    vote = sy.LogitVote().fit(cal)
    vote.save(tmp_path / "plan.json")
    steelyard("vote", file, "--plan", tmp_path / "plan.json", "-o", tmp_path / "verdicts.parquet")
    by_plan = compare(str(tmp_path / "plan.json"), "majority", on=file)
    by_file = compare(str(tmp_path / "verdicts.parquet"), "majority", on=file)
    by_name = compare("logit", "majority", on=file)
    assert by_plan.table.equals(by_name.table)
    assert by_file.table.equals(by_name.table)
    assert by_name.differing().height


def test_two_files_of_responses_are_voted_on_by_a_method(file: Path, tmp_path: Path) -> None:
    sy.write(sy.simulate(200, 8, seed=5, world=sy.testing.World(gap=0.1)), tmp_path / "weak.parquet")
    found = compare(str(file), str(tmp_path / "weak.parquet"), method="vanilla", n=4)
    test = labelled(file).split(0.3, seed=0)[1]
    assert found.accuracies()[0] == sy.accuracy(sy.VanillaVote().predict(test.first(4)), test.first(4))


def test_verdicts_without_labels_only_differ(tmp_path: Path) -> None:
    rows = {"question": ["a", "b", "c", "d"], "votes": [1] * 4, "confidence": [1.0] * 4}
    sy.write(pl.DataFrame(rows | {"answer": ["1/2", "2", None, "4"]}), tmp_path / "a.parquet")
    sy.write(pl.DataFrame(rows | {"answer": ["0.5", "3", None, None]}), tmp_path / "b.parquet")
    found = compare(str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"))
    assert found.differing()["question"].to_list() == ["b", "d"]
    with pytest.raises(sy.errors.LabelError, match="--on FILE"):
        found.difference()
    shown = steelyard("compare", tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert (shown.code, "They differ on 2" in shown.out) == (0, True)


def test_one_comparison_starts_the_symbolic_workers_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"q{i}" for i in range(4)]
    responses = pl.DataFrame({"question": np.repeat(names, 4), "answer": ["\\cos(t)", "3"] * 8, "gold": "\\cos(t)"})
    sy.write(responses, tmp_path / "r.parquet")
    rows = {"question": names, "votes": [1] * 4, "confidence": [1.0] * 4}
    for file, answer in (("a", "\\cos{t}+0\\sin{t}"), ("b", "1\\cos(t)+\\log 1")):
        sy.write(pl.DataFrame(rows | {"answer": [f"{answer}+{i}-{i}" for i in range(4)]}), tmp_path / f"{file}.parquet")
    starts = 0
    running = Worker._running

    def counted(worker: Worker) -> Any:
        nonlocal starts
        starts += worker.process is None
        return running(worker)

    monkeypatch.setattr(Worker, "_running", counted)
    a, b = (str(tmp_path / f"{file}.parquet") for file in "ab")
    found = compare(a, b, on=tmp_path / "r.parquet", need_score=False, answers="math")
    assert found.differing().height == 0
    assert found.table["correct_a"].to_list() == [True] * 4
    assert 1 <= starts <= 2


def test_verdicts_spelled_otherwise_are_labelled_as_maths(tmp_path: Path) -> None:
    responses = pl.DataFrame({"question": ["a"] * 12 + ["b"] * 12, "answer": ["1/2", "3"] * 12, "gold": ["0.5"] * 24})
    sy.write(responses, tmp_path / "r.parquet")
    verdicts = {"question": ["a", "b"], "answer": ["\\frac{2}{4}", "9"], "votes": [1, 1], "confidence": [1.0, 1.0]}
    sy.write(pl.DataFrame(verdicts), tmp_path / "v.parquet")
    path = str(tmp_path / "v.parquet")
    found = compare(path, path, on=tmp_path / "r.parquet", calibrate=0.5, need_score=False)
    assert found.table["correct_a"].to_list() == [True, False]


def test_the_command_prints_tables_or_json(file: Path) -> None:
    words = ("compare", "linear", "majority", "--on", file)
    shown = json.loads(steelyard(*words, "--json").out)
    assert shown["difference"]["value"] == pytest.approx(shown["a"]["value"] - shown["b"]["value"])
    assert shown["difference"]["low"] <= shown["difference"]["value"] <= shown["difference"]["high"]
    found = compare("linear", "majority", on=file)
    assert [row["question"] for row in shown["differing"]] == found.differing()["question"].to_list()
    text = steelyard(*words).out
    assert "140 questions decided by both" in text
    assert f"They differ on {len(shown['differing'])}" in text
    assert "(correct)" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("majority", "logit"), "name a labelled file with --on FILE"),
        (("logti", "majority", "--on", "FILE"), "did you mean 'logit'?"),
        (("missing.json", "majority", "--on", "FILE"), "missing.json"),
        (("twice.parquet", "majority", "--on", "FILE"), "several verdicts for a question"),
        (("other.parquet", "majority", "--on", "FILE"), "no question in common"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    words: tuple[str, ...], message: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    columns = {"answer": ["1", "2"], "votes": [1, 1], "confidence": [1.0, 1.0]}
    pl.DataFrame({"question": ["a", "a"], **columns}).write_parquet("twice.parquet")
    pl.DataFrame({"question": ["a", "b"], **columns}).write_parquet("other.parquet")
    done = steelyard("compare", *(str(file) if word == "FILE" else word for word in words))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert message in done.err


def test_the_pairing_is_by_question_not_by_row(file: Path, tmp_path: Path) -> None:
    verdicts = sy.MajorityVote().predict(labelled(file)).to_polars()
    rng = np.random.default_rng(0)
    sy.write(verdicts[rng.permutation(verdicts.height)], tmp_path / "v.parquet")
    assert compare(str(tmp_path / "v.parquet"), "majority", on=file).differing().height == 0


@pytest.mark.parametrize("order", [1, -1])
def test_responses_with_labels_and_verdicts_without_have_no_accuracy(file: Path, tmp_path: Path, order: int) -> None:
    sy.write(sy.MajorityVote().predict(labelled(file)).to_polars(), tmp_path / "verdicts.parquet")
    a, b = [str(file), str(tmp_path / "verdicts.parquet")][::order]
    found = compare(a, b, method="majority")
    assert not found.labelled
    for figure in (found.difference, found.accuracies):
        with pytest.raises(sy.errors.LabelError, match="--on FILE"):
            figure()
    shown = json.loads(steelyard("compare", a, b, "--method", "majority", "--json").out)
    assert (shown["questions"], "difference" in shown) == (140, False)


def test_a_path_is_compared_as_its_text(file: Path) -> None:
    found = compare(file, "majority", on=file, method="vanilla")
    assert found.names == (str(file), "majority")
    assert found.table.equals(compare(str(file), "majority", on=file, method="vanilla").table)


@pytest.mark.parametrize("voter", [sy.MajorityVote(), sy.MajorityVote, 5, None])
def test_what_is_no_name_is_refused_in_one_line(file: Path, voter: Any) -> None:
    given: dict[str, Any] = {"a": str(file), "b": "majority", "on": file}
    for place in ("a", "b", "method") if voter is not None else ("a", "b"):  # no method: the default one
        with pytest.raises(sy.SettingError, match="is not a name: give the name of a method") as refused:
            compare(**given | {place: voter})
        assert "\n" not in str(refused.value)


def test_rewordings_of_free_text_are_no_difference_and_what_differs_is_shown(tmp_path: Path) -> None:
    start = "After a long search in the archives of the city, the answer is"
    texts = [f"{start} Paris.", f"{start} lovely Paris.", f"{start} busy Paris.", f"{start} Rome."]
    rows = [
        {"question": q, "prompt": start, "response": text, "correct": "Paris" in text, "score": score}
        for q in range(20)
        for text, score in zip(texts, (0.5, 0.6, 0.1, 0.1) if q % 2 else (0.1, 0.2, 0.1, 0.9), strict=True)
    ]
    sy.write(pl.DataFrame(rows), tmp_path / "t.parquet")
    comparison = compare("majority", "best-of-n", on=tmp_path / "t.parquet", answers="free")
    assert comparison.table.filter(pl.col("answer_a") != pl.col("answer_b")).height == 14
    differing = comparison.differing()
    assert 0 < differing.height < 14
    assert set(differing["answer_b"]) == {texts[3]}
    command = ("compare", tmp_path / "t.parquet", "--method", "majority,best-of-n", "--answers", "free")
    line = next(line for line in steelyard(*command).out.splitlines() if "Rome" in line)
    assert "Paris. (correct)" in line
    pool = labelled(tmp_path / "t.parquet", answers="free")
    best, majority = sy.BestOfN().predict(pool), sy.MajorityVote().predict(pool)
    assert int((best.code != majority.code).sum()) == 20
    assert best.differ(majority).sum() == 10
