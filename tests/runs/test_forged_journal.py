"""Records with a right checksum that no command wrote: one line with the number of the line, and little memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

import steelyard as sy
from steelyard.runs.derived_table import fresh_table
from steelyard.runs.run import Run
from steelyard.runs.run_state import State
from steelyard.runs.status import status
from tests.running import steelyard
from tests.runs.runs_small import small_run

SAMPLE = {"kind": "sample", "question": "q0", "sample": 0}
SCORE = {"kind": "score", "verifier": "prm", "question": "q0", "sample": 0}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return small_run(tmp_path / "run", questions=2, samples=2)


def forge(run: Path, body: str, *, first: bool = False) -> None:
    """Put a line with a right checksum before or after all others."""
    line = b"%08x %d %s\n" % (crc32(body.encode()), len(body.encode()), body.encode())
    journal = run / "journal.jsonl"
    there = journal.read_bytes()
    journal.write_bytes(line + there if first else there + line)


def of(record: dict[str, Any], **changes: Any) -> str:
    return json.dumps({name: value for name, value in {**record, **changes}.items() if value != "gone"})


FRONTS = [
    of(SAMPLE, sample=10**11),
    of(SAMPLE, sample=10**11).replace(" ", ""),
    of(SAMPLE, sample=100_000).replace(" ", ""),
    of(SAMPLE, sample=-1),
    of(SAMPLE, sample=int("9" * 4000)),
    of(SAMPLE, sample="0"),
    of(SAMPLE, sample=0.0),
    of(SAMPLE, sample=True),
    of(SAMPLE, sample=None),
    of(SAMPLE, sample="gone"),
    of(SAMPLE, question="gone"),
    of(SAMPLE, question=7),
    of(SAMPLE, question=["q0"]),
    of(SAMPLE, verifier="prm"),
    of(SAMPLE, kind="failure", reason=["a", "b"]),
    of(SCORE, verifier="gone"),
    of(SCORE, verifier="answer"),
    of(SCORE, verifier={}),
    of(SCORE, kind="score-failure", reason=7),
    '{"kind": "note", "x": NaN}',
    '{"kind": "note", "note": "abilities", "abilities": 3}',
    '{"kind": "note", "note": "abilities", "abilities": {"most": "many"}}',
    '{"kind": "note", "note": "abilities", "abilities": {"evil": 1}}',
    '{"kind": ["of", "another", "version"]}',
    '{"kind": "verdict", "question": "q0", "sample": 0}',
    '{"kind": null}',
    "{}",
    of(SAMPLE),
    of(SAMPLE, text='"response\\": 4'),
    of(SCORE),
    '{"kind": "note", ',
    '{"kind": "note", "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
]
RESTS = [
    of(SAMPLE, response=5),
    of(SAMPLE, response=["a"]),
    of(SAMPLE, response="4", finish={}),
    of(SAMPLE, response="4", tokens="many"),
    of(SAMPLE, response="4", tokens=10**30),
    of(SAMPLE, response="4", attempts=1.5),
    of(SAMPLE, response="4", logprob="high"),
    of(SAMPLE, response="4", logprob=float("nan")),
    of(SAMPLE, response="4", logprob=float("inf")),
    of(SAMPLE, response="4").replace(" ", "")[:-1] + ",",
    of(SCORE, steps=3),
    of(SCORE, steps=["a"]),
    of(SCORE, steps=[[0.5]]),
    of(SCORE, steps=[float("nan")]),
    of(SCORE, steps=[10**400]),
]


@pytest.mark.parametrize("body", FRONTS, ids=lambda body: body[:80])
def test_a_front_that_is_not_ours_is_one_line_with_its_number(run: Path, body: str) -> None:
    forge(run, body)
    for look in (status, fresh_table, lambda folder: Run.open(folder, write=True)):
        with pytest.raises(
            sy.errors.RunError, match=r"journal\.jsonl, line 5 is not a record of a run .*sed -i 5d"
        ) as refused:
            look(run)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 600


@pytest.mark.parametrize("body", RESTS, ids=lambda body: body[:80])
def test_a_record_with_something_else_in_it_is_one_line_with_its_number(run: Path, body: str) -> None:
    forge(run, body, first=True)
    with pytest.raises(sy.errors.RunError, match=r"journal\.jsonl, line 1 is not a record of a run .*sed -i 1d"):
        fresh_table(run)
    assert not (run / "table.parquet").exists()
    if '"sample"' in body[:20]:
        with pytest.raises(sy.errors.RunError, match="line 1 is not a record"), Run.open(run) as opened:
            list(opened.samples())


def test_a_forged_line_is_one_line_at_the_command_line_and_the_advice_in_it_mends_the_run(run: Path) -> None:
    forge(run, of(SAMPLE, sample=10**11))
    done = steelyard("status", run)
    assert (done.code, done.err.count("\n")) == (2, 1)
    command = done.err.partition("delete the line with '")[2].partition("' and run")[0]
    assert subprocess.run(command, shell=True, check=False).returncode == 0
    assert steelyard("status", run).code == 0


def test_the_largest_sample_number_takes_little_memory(run: Path) -> None:
    forge(run, of(SAMPLE, sample=99_999, response="4"))
    with Run.open(run) as opened:
        assert sum(map(sys.getsizeof, opened.state.samples.done.bits.values())) < 100_000


def test_what_is_ours_is_read_however_it_is_spelled(run: Path) -> None:
    more = {"response": None, "tokens": None, "model": None, "more": [1, {"a": None}]}
    forge(run, of(SAMPLE, sample=1, logprob=1000, **more), first=True)
    forge(run, of(SCORE, steps=[0.5, None, 1, -3.0]))
    forge(run, of(SCORE, sample=1, steps=None))
    forge(run, '{"kind": "note", "about": "another version"}')
    assert fresh_table(run).exists()
    assert isinstance(Run.open(run).state, State)
    assert status(run)["samples"]["done"] == 4


@pytest.mark.parametrize(
    "changes", [{"n": "8"}, {"n": 0}, {"n": 10**9}, {"params": []}, {"model": None}, {"seed": 1.5}]
)
def test_a_manifest_with_something_else_in_it_is_one_line(run: Path, changes: dict[str, Any]) -> None:
    path = run / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(sy.errors.RunError, match=r"manifest\.json is damaged"):
        status(run)
