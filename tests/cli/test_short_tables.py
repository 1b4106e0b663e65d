"""A command that votes on a short table does not load the compiler, and gives the same verdicts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import steelyard as sy
from steelyard.cli.vote import FEW
from steelyard.tables.row_counts import LONGEST, rows_at_most
from tests.running import steelyard

PROGRAM = """
import sys
from steelyard.__main__ import main
try:
    main()
finally:
    print("numba" in sys.modules, file=sys.stderr)
"""


IN_A_LARGER_PROGRAM = PROGRAM.replace("steelyard.__main__", "steelyard.cli")  # which may read long tables later


def compiled(*words: object, program: str = PROGRAM) -> bool:
    """Whether `steelyard WORDS` in a process of its own has loaded the compiler."""
    command = [sys.executable, "-c", program, *map(str, words)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()[-1] == "True"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    sy.simulate(40, 8, seed=1).write_parquet(tmp_path / "r.parquet")
    return tmp_path / "r.parquet"


def test_the_verdicts_are_the_same_without_the_compiler(table: Path, tmp_path: Path) -> None:
    plan, here, there = tmp_path / "plan.json", tmp_path / "here.parquet", tmp_path / "there.parquet"
    assert steelyard("fit", table, "-o", plan).code == 0
    assert compiled("vote", table, "--plan", plan, "-o", here, program=IN_A_LARGER_PROGRAM)
    assert not compiled("vote", table, "--plan", plan, "-o", there)
    assert here.read_bytes() == there.read_bytes()


def test_long_tables_texts_that_are_compared_and_sources_are_compiled(tmp_path: Path) -> None:
    sy.simulate(FEW // 8 + 1, 8, seed=1).write_parquet(tmp_path / "long.parquet")
    assert compiled("vote", tmp_path / "long.parquet")
    texts = [{"question": "q", "response": f"it is {i % 3} of them", "llm": f"m{i}"} for i in range(6)]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)))
    assert compiled("vote", tmp_path / "texts.jsonl", "--answers", "free")
    assert compiled("vote", tmp_path / "texts.jsonl", "--answers", "text", "--source", "llm")


def test_rows_are_counted_in_what_is_read_quickly(table: Path, tmp_path: Path) -> None:
    text, other = tmp_path / "r.jsonl", tmp_path / "r.jsonl.gz"
    text.write_text('{"question": "a"}\n' * 10)
    other.write_bytes(b"")
    assert rows_at_most([table], 320)
    assert not rows_at_most([table], 319)
    assert rows_at_most([table, text], 330)
    assert not rows_at_most([table, text], 329)
    for unknown in (other, tmp_path, tmp_path / "missing.parquet"):
        assert not rows_at_most([unknown], 1000)
    text.write_bytes(b"x" * (LONGEST + 1))
    assert not rows_at_most([text], 1000)
    text.write_text('{"question": "a", "answers": ["1", "2"]}\n')
    assert not rows_at_most([text], 1000), "a row may hold many responses"
    pl.DataFrame({"question": ["a"], "answers": [["1", "2"]]}).write_parquet(tmp_path / "lists.parquet")
    assert not rows_at_most([tmp_path / "lists.parquet"], 1000)
    (tmp_path / "broken.parquet").write_text("no Parquet")
    assert not rows_at_most([tmp_path / "broken.parquet"], 1000)


def test_a_damaged_file_is_one_line_of_error(table: Path, tmp_path: Path) -> None:
    content = table.read_bytes()
    for at in range(20, 500, 20):  # bytes of the footer; polars panics at some of them
        damaged = bytearray(content)
        damaged[-at] ^= 1
        (tmp_path / "damaged.parquet").write_bytes(damaged)
        assert rows_at_most([tmp_path / "damaged.parquet"], 1000) in (True, False)
