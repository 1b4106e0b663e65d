"""Runs: what is acknowledged is kept, what is kept is one table, and other settings are refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run
from tests.running import steelyard

QUESTIONS = pl.DataFrame(
    {"question": ["b", "a"], "prompt": ["2+2?", "1+1?"], "gold": ["4", "2"], "domain": ["sums", "sums"]}
)
MANIFEST = Manifest("ab" * 32, "tiny", 4, seed=7, params={"temperature": 0.7, "top_p": 0.9})


def sample(question: str, number: int, **more: Any) -> dict[str, Any]:
    said = {"response": f"It is \\boxed{{{number + 1}}}", "finish": "stop", "tokens": 5, "logprob": -0.5}
    return {"kind": "sample", "question": question, "sample": number, **said, "attempts": 1, **more}


def fill(run: Run, *records: dict[str, Any]) -> None:
    async def add_all() -> None:
        await asyncio.gather(*(run.add(record) for record in records))

    asyncio.run(add_all())


def test_a_finished_run_is_one_table_whatever_the_order_and_the_interruptions(tmp_path: Path) -> None:
    records = [sample(q, i) for q in "ab" for i in range(4)]
    with Run.start(tmp_path / "one", MANIFEST, QUESTIONS) as run:
        fill(run, *records)
        one = run.write_table().read_bytes()
    for record in reversed(records):
        with Run.start(tmp_path / "many", MANIFEST, QUESTIONS) as run:
            assert (record["question"], record["sample"]) in run.missing()
            run.add_now([record])
    assert run.write_table().read_bytes() == one
    table = pl.read_parquet(tmp_path / "one" / "table.parquet")
    assert table["question"].to_list() == ["b"] * 4 + ["a"] * 4
    assert table["answer"].to_list() == ["1", "2", "3", "4"] * 2
    assert table["correct"].to_list() == [False, False, False, True, False, True, False, False]
    assert table["llm"].unique().to_list() == ["tiny"]
    assert table["self_logprob"].to_list() == pytest.approx([0.6065306597] * 8)


def test_a_resumed_run_knows_what_is_done_what_failed_and_what_is_scored(tmp_path: Path) -> None:
    failure = {"kind": "failure", "question": "a", "sample": 1, "reason": "429 for 60 s", "attempts": 3}
    score = {"kind": "score", "verifier": "prm", "question": "a", "sample": 0, "steps": [0.5, 0.25]}
    with Run.start(tmp_path / "run", MANIFEST, QUESTIONS) as run:
        fill(run, sample("a", 0), failure, sample("b", 3), score, {"kind": "note", "n": True})
    with Run.open(tmp_path / "run") as run:
        assert list(run.missing()) == [("b", 0), ("b", 1), ("b", 2), ("a", 1), ("a", 2), ("a", 3)]
        assert run.state.samples.failed == {("a", 1): "429 for 60 s"}
        assert [record["question"] for record in run.unscored("prm")] == ["b"]
        assert run.state.notes == [{"kind": "note", "n": True}]
        assert (run.has("a", 0), run.has("a", 1), run.requested) == (True, False, 8)
    with Run.open(tmp_path / "run", write=True) as run:
        fill(run, sample("a", 1))
        assert run.state.samples.failed == {}


def test_a_sample_that_was_written_after_its_task_was_cancelled_is_counted_once_the_run_is_closed(
    tmp_path: Path,
) -> None:
    async def add_and_cancel(run: Run) -> None:
        task = asyncio.ensure_future(run.add(sample("a", 0)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with Run.start(tmp_path / "run", MANIFEST, QUESTIONS) as run:
        asyncio.run(add_and_cancel(run))
    with Run.open(tmp_path / "run") as again:
        assert len(run.state.samples.done) == len(again.state.samples.done) == 1


def test_a_failed_sample_stays_a_row_without_an_answer(tmp_path: Path) -> None:
    failure = {"kind": "failure", "question": "b", "sample": 0, "reason": "no answer for 60 s", "attempts": 3}
    with Run.start(tmp_path / "run", MANIFEST, QUESTIONS) as run:
        fill(run, failure, *(sample("b", i) for i in (1, 2, 3)))
        row = pl.read_parquet(run.write_table()).row(0, named=True)
    assert (row["answer"], row["correct"], row["failure"]) == (None, False, "no answer for 60 s")
    assert sy.read(tmp_path / "run", score="none").n_responses == 4


def test_the_first_sample_of_a_key_stands(tmp_path: Path) -> None:
    late = {"kind": "failure", "question": "a", "sample": 0, "reason": "late"}
    with Run.start(tmp_path / "run", MANIFEST, QUESTIONS) as run:
        fill(run, sample("a", 0))
        fill(run, sample("a", 0, response="\\boxed{9}"), late)
        assert [record["response"] for record in run.samples()] == ["It is \\boxed{1}"]
        assert pl.read_parquet(run.write_table())["answer"].to_list() == ["1"]
        assert run.state.samples.failed == {}


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (
            Manifest("ab" * 32, "tiny", 4, seed=7, params={"temperature": 1, "top_p": 0.9}),
            "params.temperature was 0.7, now 1",
        ),
        (Manifest("ab" * 32, "tiny", 4, seed=7, params={"temperature": 0.7}), "params.top_p was 0.9, now not set"),
        (
            Manifest("cd" * 32, "tiny", 4, seed=7, params=MANIFEST.params),
            "sha256 was abababababab.., now cdcdcdcdcdcd..",
        ),
        (Manifest("ab" * 32, "huge", 4, seed=7, params=MANIFEST.params), "model was 'tiny', now 'huge'"),
        (Manifest("ab" * 32, "tiny", 3, seed=7, params=MANIFEST.params), "n was 4, now 3"),
    ],
)
def test_a_changed_configuration_is_refused_with_what_differs(tmp_path: Path, wanted: Manifest, said: str) -> None:
    with Run.start(tmp_path / "run", MANIFEST, QUESTIONS) as run:
        run.add_now([sample("q0", 0)])
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    with pytest.raises(sy.errors.RunError, match="made with other settings") as refused:
        Run.start(tmp_path / "run", wanted, QUESTIONS)
    assert said in str(refused.value)
    assert "fork='NEW'" in str(refused.value)
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    Run.start(tmp_path / "run", MANIFEST, QUESTIONS).close()


def test_more_samples_a_question_go_on_in_the_same_run(tmp_path: Path) -> None:
    with Run.start(tmp_path / "run", MANIFEST, QUESTIONS) as run:
        fill(run, *(sample(q, i) for q in "ab" for i in range(4)))
    with Run.start(tmp_path / "run", Manifest(**{**vars(MANIFEST), "n": 6}), QUESTIONS) as run:
        assert list(run.missing()) == [("b", 4), ("b", 5), ("a", 4), ("a", 5)]


def test_fit_evaluate_vote_and_report_take_a_run_folder_and_a_plain_folder_is_one_line(tmp_path: Path) -> None:
    table = sy.simulate(60, 4, seed=0)
    names = table["question"].unique(maintain_order=True)
    questions = pl.DataFrame({"question": names, "prompt": names, "gold": ["1"] * len(names)})
    with Run.start(tmp_path / "run", MANIFEST, questions) as run:
        for row in table.iter_rows(named=True):
            said = "\\boxed{1}" if row["correct"] else f"\\boxed{{{2 + row['sample'] % 3}}}"
            record = sample(row["question"], row["sample"], response=said, logprob=None)
            score = {"kind": "score", "verifier": "prm", "steps": [0.1, row["score"]]}
            run.add_now([record, record | score])
    done = steelyard("evaluate", tmp_path / "run", "--resamples", 0)
    assert done.code == 0, done.err
    done = steelyard("fit", tmp_path / "run", "-o", tmp_path / "plan.json")
    assert done.code == 0, done.err
    done = steelyard("vote", tmp_path / "run", "--plan", tmp_path / "plan.json", "-o", tmp_path / "v.parquet")
    assert done.code == 0, done.err
    assert pl.read_parquet(tmp_path / "v.parquet").height == 60
    done = steelyard("report", tmp_path / "run", "-o", tmp_path / "report.html")
    assert done.code == 0, done.err
    (tmp_path / "plain").mkdir()
    done = steelyard("evaluate", tmp_path / "plain")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "is a folder but not a run" in done.err


def test_a_folder_that_does_not_exist_is_not_called_a_run_without_a_manifest(tmp_path: Path) -> None:
    done = steelyard("status", tmp_path / "mistyped")
    assert done.code == 2
    assert f"no such folder: {tmp_path / 'mistyped'}; correct the path" in done.err
