"""steelyard generate --engine: a run in parts that is the run of one process, whatever happens to its workers."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import steelyard as sy
from steelyard.foundation.errors import SteelyardWarning
from steelyard.runs.lock import RunLock
from tests.engine.engines import Here
from tests.engine.in_process import engine
from tests.running import Done, steelyard
from tests.sampling.jobs.generating import SUFFIX, ask_for
from tests.upstreams import FaultUpstream

__all__ = ["engine"]
pytestmark = pytest.mark.usefixtures("key", "short_pauses")


def generated(upstream: FaultUpstream, questions: Path, run: Path, model: str, *words: object, n: int = 2) -> Done:
    return steelyard("generate", questions, "--upstream", upstream.url, "--model", model, "-n", n, "-o", run, *words)


def table(run: Path) -> pl.DataFrame:
    """The table of a run, as every reader sees it."""
    sy.read(run, score="none")
    return pl.read_parquet(run / "table.parquet")


def test_the_table_of_all_parts_is_that_of_a_run_without_parts(
    upstream: FaultUpstream, tmp_path: Path, engine: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = ask_for(tmp_path, 12)
    assert generated(upstream, questions, tmp_path / "plain", "same").code == 0
    once = upstream.samples("same")
    done = generated(upstream, questions, tmp_path / "run", "same", "--engine", "ray", "--parts", 20)
    assert done.code == 0, done.err
    assert "24 of 24 samples" in done.out
    assert upstream.samples("same") == once + once  # with the same seeds
    monkeypatch.setattr("steelyard.runs.parted_table.BUFFERED", 5)
    monkeypatch.setattr("steelyard.runs.parted_table.BUCKET", 4)
    assert_frame_equal(table(tmp_path / "run"), table(tmp_path / "plain"))
    assert not list((tmp_path / "run").glob("*.working"))
    assert len(engine.asked) == len(list((tmp_path / "run").glob("part-*"))) < 12  # some parts have no question
    assert "24/24" in (tmp_path / "run" / "progress.log").read_text().splitlines()[-1]
    again = generated(upstream, questions, tmp_path / "run", "same", "--engine", "ray")
    assert "Nothing to sample" in again.out
    assert upstream.samples("same") == once + once


def test_a_part_that_fails_is_named_and_the_same_command_asks_for_nothing_but_what_it_lacks(
    upstream: FaultUpstream, tmp_path: Path, engine: Here
) -> None:
    questions = ask_for(tmp_path, 8, bad=1)
    model = "fault:422?BAD"
    words = ("--engine", "ray", "--parts", 4, "--max-failures", 0)
    done = generated(upstream, questions, tmp_path / "run", model, *words)
    assert done.code == 2
    assert "1 of 4 parts" in done.err
    (begun,) = (tmp_path / "run").glob("*.working")
    assert f"({begun.stem}: " in done.err
    assert done.err.count("run the same command again") == 1
    asked = upstream.samples(model)
    with pytest.warns(SteelyardWarning, match="1 of 4 parts are not finished"):
        assert "q0" not in table(tmp_path / "run")["question"]
    status = json.loads(steelyard("status", tmp_path / "run", "--json").out)
    assert [part["part"] for part in status["parts"] if part["state"] == "begun"] == [begun.stem]
    assert status["samples"]["wanted"] == 16
    done = generated(upstream, questions, tmp_path / "run", model, *words[:-1], "100%")
    assert done.code == 0, done.err
    assert engine.asked[4:] == [begun.stem]
    new = upstream.samples(model) - asked
    assert {prompt for prompt, _ in new} == {f"0 + 1? BAD{SUFFIX}"}
    assert table(tmp_path / "run").filter(pl.col("question") == "q0")["failure"].null_count() == 0
    assert "part-0" in steelyard("status", tmp_path / "run").out  # a part with failures is named


def test_more_samples_go_into_the_parts_that_are_there(upstream: FaultUpstream, tmp_path: Path, engine: Here) -> None:
    questions = ask_for(tmp_path, 4)
    words = ("--engine", "ray", "--parts", 2)
    for n in (1, 3):
        done = generated(upstream, questions, tmp_path / "run", "more", *words, n=n)
        assert done.code == 0, done.err
    assert set(upstream.samples("more").values()) == {1}
    generated(upstream, questions, tmp_path / "plain", "more", n=3)
    assert_frame_equal(table(tmp_path / "run"), table(tmp_path / "plain"))


def test_a_part_that_another_worker_holds_is_reported_and_not_done_twice(
    upstream: FaultUpstream, tmp_path: Path, engine: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.runs.part_folders.PATIENCE", 0.0)
    questions, words = ask_for(tmp_path, 8), ("--engine", "ray", "--parts", 2)
    assert generated(upstream, questions, tmp_path / "run", "held", *words, n=1).code == 0
    lock = RunLock(tmp_path / "run" / "locks", "part-00001")
    try:
        done = generated(upstream, questions, tmp_path / "run", "held", *words)
    finally:
        lock.release()
    assert done.code == 2
    assert "part-00001 is in use by process" in done.err
    counts = table(tmp_path / "run")["question"].value_counts()["count"]
    assert {*counts} == {1, 2}  # the other part went on


@pytest.mark.parametrize("address", ["s3://bucket/run", "gs://bucket/run"])
def test_an_object_store_cannot_hold_a_run(tmp_path: Path, engine: Here, address: str) -> None:
    words = ("--upstream", "http://127.0.0.1:1/v1", "--model", "m", "--engine", "ray", "-o", address)
    done = steelyard("generate", ask_for(tmp_path, 2), *words)
    assert done.code == 2
    assert "a run needs a file system with rename and flock" in done.err


def test_a_folder_that_gives_a_lock_twice_cannot_hold_a_run(
    upstream: FaultUpstream, tmp_path: Path, engine: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    done = generated(upstream, ask_for(tmp_path, 2), tmp_path / "run", "m", "--engine", "ray")
    assert done.code == 2
    assert "a lock was acquired twice" in done.err


def test_what_does_not_fit_a_run_in_parts_is_refused_in_one_line(
    upstream: FaultUpstream, tmp_path: Path, engine: Here
) -> None:
    questions, run = ask_for(tmp_path, 4), tmp_path / "run"
    words = ("--engine", "ray", "--parts", 2)
    assert generated(upstream, questions, run, "m", *words).code == 0
    for more, said in {
        ("--engine", "ray", "--parts", "3"): "--parts was 2, now 3",
        (*map(str, words), "--seed", "5"): "seed was 0, now 5",
        (): "is a run in parts",
        ("--parts", "2"): "--parts needs an engine",
        ("--workers", "2", "--dry-run"): "--workers needs an engine",
        (*map(str, words), "--workers", "8:2"): "cannot read --workers",
        (*map(str, words), "--fork", str(tmp_path / "other")): "--fork cannot be combined with --engine",
    }.items():
        done = generated(upstream, questions, run, "m", *more)
        assert done.code == 2, more
        assert said in done.err
        assert done.err.count("\n") == 1


def test_a_table_is_not_replaced_by_one_of_fewer_parts(upstream: FaultUpstream, tmp_path: Path, engine: Here) -> None:
    assert generated(upstream, ask_for(tmp_path, 6), tmp_path / "run", "m", "--engine", "ray", "--parts", 2).code == 0
    before = table(tmp_path / "run")
    (tmp_path / "run" / "part-00001").rename(tmp_path / "elsewhere")
    done = steelyard("vote", tmp_path / "run", "-o", tmp_path / "verdicts.parquet")
    assert done.code == 2
    assert "contains less than table.parquet was made from" in done.err
    assert_frame_equal(pl.read_parquet(tmp_path / "run" / "table.parquet"), before)
