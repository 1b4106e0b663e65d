"""A journal that lost something never costs the table that was made when it was whole."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.runs.derived_table import fresh_table
from steelyard.runs.manifest import Manifest
from steelyard.runs.run import Run
from steelyard.runs.status import status
from tests.running import steelyard
from tests.runs.runs_small import small_run

FILES = ("table.parquet", "table.json")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Four questions, eight samples each, all scored; the table is made."""
    folder = small_run(tmp_path / "run")
    score(folder)
    fresh_table(folder)
    return folder


def score(folder: Path) -> None:
    with Run.open(folder, write=True) as opened:
        keys = [(each["question"], each["sample"]) for each in opened.unscored("prm")]
        about = {"kind": "score", "verifier": "prm", "steps": [0.5, 0.75]}
        opened.add_now([{**about, "question": q, "sample": i} for q, i in keys])


def lines(folder: Path) -> list[bytes]:
    return (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)


def derived(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in FILES if (folder / name).exists()]


def cut(folder: Path, part: float) -> None:
    kept = lines(folder)
    (folder / "journal.jsonl").write_bytes(b"".join(kept[: int(len(kept) * part)]))


@pytest.mark.parametrize("verb", ["vote", "answers"])
def test_a_lost_journal_is_one_line_and_the_table_stays_and_can_be_read_by_its_name(run: Path, verb: str) -> None:
    before = derived(run)
    (run / "journal.jsonl").unlink()
    done = steelyard(verb, run)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "0 of 32 samples, 0 of 32 scores of prm; 0 of " in done.err
    assert "generate" in done.err
    assert derived(run) == before
    assert steelyard(verb, run / "table.parquet").code == 0


@pytest.mark.parametrize("part", [0.0, 0.25, 0.5, 0.9])
def test_a_shortened_journal_is_refused_with_what_is_missing(run: Path, part: float) -> None:
    before = derived(run)
    cut(run, part)
    for _ in range(2):
        with pytest.raises(sy.errors.RunError, match=r"of 32 (samples|scores of prm).* bytes.*left as it is"):
            sy.read(run, score="prm")
    assert derived(run) == before


@pytest.mark.parametrize("gone", FILES)
def test_the_table_or_its_seal_alone_still_tells_that_something_is_lost(run: Path, gone: str) -> None:
    (run / gone).unlink()
    before = derived(run)
    cut(run, 0.25)
    with pytest.raises(sy.errors.RunError, match="of 32 samples"):
        fresh_table(run)
    assert derived(run) == before


@pytest.mark.parametrize(
    "seal", ["[]", "{", '{"journal": 5}', '{"holds": [], "rows": "x"}', '{"rows": -1}', "[" * 9999]
)
def test_a_damaged_seal_does_not_let_a_shorter_journal_pass(run: Path, seal: str) -> None:
    good = (run / "table.parquet").read_bytes()
    (run / "table.json").write_text(seal)
    cut(run, 0.25)
    with pytest.raises(sy.errors.RunError, match="of 32 samples"):
        fresh_table(run)
    Run.open(run, write=True).close()
    assert (run / "table.parquet").read_bytes() == good


def test_a_command_that_asks_again_replaces_the_table_only_when_there_is_as_much(run: Path) -> None:
    before, whole = derived(run), lines(run)
    (run / "journal.jsonl").unlink()
    with pytest.warns(sy.SteelyardWarning, match="the table is left as it is until then"):
        opened = Run.open(run, write=True)
    with opened:
        assert len(list(opened.missing())) == 32
        records = [json.loads(line[line.index(b"{") :]) for line in whole]
        opened.add_now(records[:31])
        with pytest.raises(sy.errors.RunError, match="31 of 32 samples, 0 of 32 scores of prm"):
            opened.write_table()
        opened.add_now(records[31:32])
        with pytest.raises(sy.errors.RunError, match="0 of 32 scores of prm"):
            opened.write_table()
        assert derived(run) == before
        opened.add_now(records[32:])
        assert opened.write_table().read_bytes() == before[0]
    assert status(run)["table"] == "up to date"


def test_a_line_taken_out_as_the_message_says_leaves_the_table_until_it_is_asked_again(run: Path) -> None:
    before, whole = derived(run), lines(run)
    (run / "journal.jsonl").write_bytes(b"".join([*whole[:3], *whole[4:]]))
    with pytest.raises(sy.errors.RunError, match="31 of 32 rows, 31 of 32 samples"):
        fresh_table(run)
    assert derived(run) == before
    (run / "journal.jsonl").write_bytes(b"".join([*whole[:3], *whole[4:], whole[3]]))
    assert fresh_table(run).read_bytes() == before[0]


def test_status_says_what_the_journal_has_lost(run: Path) -> None:
    assert status(run)["lost"] == ""
    cut(run, 0.25)
    assert status(run)["table"] == "made from more than the journal holds"
    done = steelyard("status", run)
    assert done.code == 0
    assert "Its table is made from more than the journal holds (16 of 32 rows, 16 of 32 samples, 0 of 32" in done.out


def test_what_is_left_makes_a_table_once_the_old_one_is_taken_away(run: Path) -> None:
    cut(run, 0.25)
    for name in FILES:
        (run / name).unlink()
    assert pl.read_parquet(fresh_table(run)).height == 16


def test_a_lost_journal_does_not_free_the_run_for_other_settings(run: Path) -> None:
    questions = pl.read_parquet(run / "questions.parquet")
    (run / "journal.jsonl").unlink()
    with pytest.raises(sy.errors.RunError, match="made with other settings"):
        Run.start(run, Manifest("0" * 64, "another", 8), questions)


def test_other_questions_before_anything_was_drawn_take_the_place_of_the_first(tmp_path: Path) -> None:
    table = pl.DataFrame({"question": ["a"], "prompt": ["1+1?"]})
    Run.start(tmp_path / "run", Manifest("0" * 64, "m", 2), table).close()
    other = pl.DataFrame({"question": ["b"], "prompt": ["2+2?"]})
    with Run.start(tmp_path / "run", Manifest("1" * 64, "m", 2), other) as opened:
        assert list(opened.missing()) == [("b", 0), ("b", 1)]


def test_a_run_without_its_manifest_says_that_the_table_can_still_be_read(run: Path) -> None:
    (run / "manifest.json").unlink()
    for verb in ("vote", "status"):
        done = steelyard(verb, run)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert f"{run / 'table.parquet'}" in done.err
        assert "can still be read" in done.err
    with pytest.raises(sy.errors.RunError, match="contains other files"):
        Run.start(run, Manifest("0" * 64, "m", 8), pl.DataFrame({"question": ["a"], "prompt": ["b"]}))
