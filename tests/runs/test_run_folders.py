"""A run folder as its readers see it: status, a table as good as its seal, forks, and folders that are no runs."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.runs.derived_table import fresh_table
from steelyard.runs.fork import fork
from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run
from steelyard.runs.seal import sealed
from steelyard.runs.status import status
from tests.running import steelyard

QUESTIONS = pl.DataFrame({"question": ["a", "b", "c"], "prompt": ["1+1?", "1+2?", "1+3?"], "gold": ["2", "3", "4"]})
MANIFEST = Manifest("ab" * 32, "tiny", 2)


def sample(question: str, number: int, response: str = r"\boxed{2}") -> dict[str, Any]:
    return {"kind": "sample", "question": question, "sample": number, "response": response, "attempts": 1}


def score(question: str, number: int, verifier: str = "prm", **more: Any) -> dict[str, Any]:
    return {"kind": "score", "verifier": verifier, "question": question, "sample": number, "steps": [0.5, 0.75], **more}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with Run.start(tmp_path / "run", MANIFEST, QUESTIONS) as made:
        made.add_now([sample("a", 0), sample("a", 1), sample("b", 0)])
        reason = {"kind": "failure", "reason": "no answer for 60 s", "attempts": 3}
        made.add_now([{**reason, "question": "b", "sample": 1}, {**reason, "question": "c", "sample": 0}])
        made.add_now([score("a", 0), score("a", 1, kind="score-failure", reason="out of memory"), score("b", 0, "orm")])
    return tmp_path / "run"


def test_status_counts_what_is_done_what_failed_and_what_is_left(run: Path) -> None:
    found = json.loads(steelyard("status", run, "--json").out)
    samples = {name: found["samples"][name] for name in ("wanted", "done", "failed", "left")}
    assert samples == {"wanted": 6, "done": 3, "failed": 2, "left": 1}
    assert found["samples"]["reasons"] == [{"reason": "no answer for 60 s", "samples": 2}]
    assert [(each["question"], each["sample"]) for each in found["samples"]["failures"]] == [("b", 1), ("c", 0)]
    assert {name: (part["done"], part["failed"], part["left"]) for name, part in found["verifiers"].items()} == {
        "orm": (1, 0, 2),
        "prm": (1, 1, 1),
    }
    assert (found["table"], found["writer"], found["torn_bytes"]) == ("not made yet", None, 0)
    done = steelyard("status", run)
    assert done.code == 0
    assert "samples: 2 failed: no answer for 60 s" in done.out
    assert "question c, sample 0" in done.out
    assert "run the 'steelyard generate' command of this run again" in done.out


def test_status_says_how_old_the_table_is(run: Path) -> None:
    fresh_table(run)
    assert status(run)["table"] == "up to date"
    with Run.open(run, write=True) as opened:
        opened.add_now([sample("c", 0)])
    assert status(run)["table"] == "older than the journal"


def test_looking_at_a_run_changes_nothing_even_its_torn_end(run: Path) -> None:
    with (run / "journal.jsonl").open("ab") as file:
        file.write(b"0123abcd 99 {")
    before = (run / "journal.jsonl").read_bytes()
    assert status(run)["torn_bytes"] == 13
    assert "an unfinished record of 13 bytes" in steelyard("status", run).out
    assert (run / "journal.jsonl").read_bytes() == before
    with pytest.warns(sy.SteelyardWarning, match="unfinished record of 13 bytes"):
        Run.open(run, write=True).close()
    assert (run / "journal.jsonl").read_bytes() == before[:-13]


def test_a_journal_that_lost_its_end_since_the_table_was_made_is_told(run: Path) -> None:
    fresh_table(run)
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (run / "journal.jsonl").write_bytes(b"".join(lines[:2]))
    with pytest.warns(sy.SteelyardWarning, match="is shorter than it was"):
        Run.open(run, write=True).close()


def test_the_table_follows_the_journal_by_itself(run: Path) -> None:
    assert sy.read(run, score="prm").n_responses == 5
    with Run.open(run, write=True) as opened:
        opened.add_now([sample("c", 0, r"\boxed{4}")])
    pool = sy.read(run, score="prm:min")
    assert isinstance(pool, sy.LabelledPool)
    assert (pool.n_responses, int(pool.correct.sum())) == (5, 3)
    assert pl.read_parquet(run / "table.parquet")["failure"].null_count() == 4


def test_a_table_that_is_up_to_date_is_not_written_again(run: Path) -> None:
    before = fresh_table(run).stat().st_mtime_ns
    copy = run.with_name("copy")
    shutil.copytree(run, copy)
    assert fresh_table(run).stat().st_mtime_ns == before
    copied = (copy / "table.parquet").stat().st_ino
    assert fresh_table(copy).stat().st_ino == copied


def test_any_flip_in_a_table_is_found_and_mended_from_the_journal(run: Path) -> None:
    good = fresh_table(run).read_bytes()
    rng = random.Random(0)
    for _ in range(200):
        flipped = bytearray(good)
        flipped[rng.randrange(len(good))] ^= 1 << rng.randrange(8)
        (run / "table.parquet").write_bytes(flipped)
        assert sealed(run / "table.parquet") is None
    assert fresh_table(run).read_bytes() == good


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"sha256": 1}', b"\xff"])
def test_a_damaged_seal_only_means_that_the_table_is_made_again(run: Path, content: bytes) -> None:
    good = fresh_table(run).read_bytes()
    (run / "table.json").write_bytes(content)
    assert sealed(run / "table.parquet") is None
    assert fresh_table(run).read_bytes() == good
    assert sealed(run / "table.parquet") is not None


def test_damaged_questions_are_refused_and_the_same_command_mends_them(run: Path) -> None:
    good = (run / "questions.parquet").read_bytes()
    (run / "questions.parquet").write_bytes(good[:100] + bytes([good[100] ^ 1]) + good[101:])
    with pytest.raises(sy.errors.RunError, match=r"questions\.parquet is missing or damaged .*generate"):
        Run.open(run)
    Run.start(run, MANIFEST, QUESTIONS).close()
    assert (run / "questions.parquet").read_bytes() == good


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is damaged"),
        ("[]", "is damaged"),
        ('{"format": "other"}', "its format is 'other'"),
        ('{"format": "steelyard-run", "version": 99, "steelyard": "9.9"}', "install that or a newer one"),
        ('{"format": "steelyard-run", "version": 1}', "is damaged"),
    ],
)
def test_a_manifest_that_is_none_is_one_line(run: Path, content: str, said: str) -> None:
    (run / "manifest.json").write_text(content)
    for verb in ("status", "evaluate", "fit"):
        done = steelyard(verb, run)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert said in done.err


def test_a_run_wants_a_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("do not touch")
    with pytest.raises(sy.errors.RunError, match=r"contains other files \(thesis.tex"):
        Run.start(tmp_path, MANIFEST, QUESTIONS)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_start_that_was_killed_half_way_starts_again(run: Path) -> None:
    (run / "manifest.json").unlink()
    (run / "journal.jsonl").unlink()
    with Run.start(run, MANIFEST, QUESTIONS) as started:
        assert len(list(started.missing())) == 6


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        (QUESTIONS.drop("prompt"), "no column 'prompt'"),
        (QUESTIONS.with_columns(question=pl.lit("same")), "'same' is not unique"),
        (QUESTIONS.head(0), "there are no questions"),
    ],
)
def test_questions_that_cannot_make_a_run_are_one_line(tmp_path: Path, questions: pl.DataFrame, said: str) -> None:
    with pytest.raises(sy.errors.RunError, match=said):
        Run.start(tmp_path / "run", MANIFEST, questions)
    Run.start(tmp_path / "run", MANIFEST, QUESTIONS).close()


def test_files_of_a_dead_process_go_and_those_of_a_live_one_stay(run: Path) -> None:
    (run / ".table.parquet.999999999.abc.parquet").write_bytes(b"x")
    (run / f".table.parquet.{os.getpid()}.abc.parquet").write_bytes(b"x")
    Run.open(run, write=True).close()
    assert [path.name for path in run.glob(".*")] == [f".table.parquet.{os.getpid()}.abc.parquet"]


def test_a_fork_takes_along_what_is_the_same_question(run: Path) -> None:
    changed = pl.DataFrame({"question": ["b", "a"], "prompt": ["another prompt", "1+1?"], "gold": ["5", "2"]})
    with fork(run, run.with_name("new"), Manifest("cd" * 32, "tiny", 3), changed) as new:
        assert list(new.missing()) == [("b", 0), ("b", 1), ("b", 2), ("a", 2)]
        assert [record["question"] for record in new.unscored("prm")] == ["a"]
    with fork(run, run.with_name("new"), Manifest("cd" * 32, "tiny", 3), changed) as new:
        assert len(list(new.records())) == 3  # nothing twice


def test_a_fork_with_another_model_begins_empty(run: Path) -> None:
    with fork(run, run.with_name("new"), Manifest("ab" * 32, "other", 2), QUESTIONS) as new:
        assert len(list(new.missing())) == 6
    with pytest.raises(sy.errors.RunError, match="cannot be forked into itself"):
        fork(run, run, MANIFEST, QUESTIONS)


def test_the_address_is_written_down_without_user_and_password(tmp_path: Path) -> None:
    manifest = Manifest("ab" * 32, "tiny", 2, upstream="https://user:canary@example.org:8000/v1?x=1")
    Run.start(tmp_path / "run", manifest, QUESTIONS).close()
    text = (tmp_path / "run" / "manifest.json").read_text()
    assert "https://example.org:8000/v1?x=1" in text
    assert "canary" not in text


def test_odd_texts_and_missing_gold_make_a_table(tmp_path: Path) -> None:
    questions = QUESTIONS.with_columns(gold=pl.Series(["2", None, "4"]))
    with Run.start(tmp_path / "run", MANIFEST, questions) as run:
        run.add_now([sample("a", 0, "half \ud800 of a pair"), sample("b", 0, ""), score("b", 0, steps=[float("nan")])])
        table = pl.read_parquet(run.write_table())
    assert table["response"].to_list() == ["half \ufffd of a pair", ""]
    assert table["correct"].to_list() == [False, None]
    assert table["prm"].to_list() == [None, [None]]


def test_a_run_without_samples_is_an_empty_table(tmp_path: Path) -> None:
    Run.start(tmp_path / "run", MANIFEST, QUESTIONS).close()
    done = steelyard("evaluate", tmp_path / "run")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "has no samples yet" in done.err


def test_a_run_open_for_reading_refuses_to_be_written(run: Path) -> None:
    with Run.open(run) as opened, pytest.raises(sy.errors.RunError, match="open it with write=True"):
        opened.add_now([sample("c", 1)])


def test_vote_takes_a_run_folder(run: Path, tmp_path: Path) -> None:
    done = steelyard("vote", run, "--method", "vanilla", "--score", "prm", "-o", tmp_path / "v.parquet")
    assert done.code == 0, done.err
    assert pl.read_parquet(tmp_path / "v.parquet")["question"].to_list() == ["a", "b", "c"]
