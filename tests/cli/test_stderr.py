"""What is written to the stderr of the process: a crash is seen, a panic that becomes an error is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import steelyard as sy
from tests.waiting import PATIENCE

CRASH = b"CUDA error: device-side assert triggered\n"
PANIC = b"\nthread 'tokio-rt-worker' (7) panicked at crates/x.rs:1:2:\nindex out of bounds\nnote: run with ..\n"
SCRIPT = """
import os, sys
import polars as pl
from steelyard.cli import main, text_tables
from steelyard.tables import table_answers as reading
def crash(*_, **__):
    os.write(2, {crash!r})
    os.abort()
def panic(*_, **__):
    os.write(2, {panic!r})
    raise pl.exceptions.PanicException("index out of bounds")
def murmur(schema, checked=reading.check_columns):
    os.write(2, {crash!r})
    return checked(schema)
{where} = {what}
sys.argv = ["steelyard", "answers", {file!r}]
main()
"""


def run(tmp_path: Path, where: str, what: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Read the answers of a file in a process of its own, in which one function is another."""
    sy.write(sy.simulate(5, 4), tmp_path / "t.parquet")
    script = SCRIPT.format(where=where, what=what, crash=CRASH, panic=PANIC, file=str(tmp_path / "t.parquet"))
    quiet = {name: value for name, value in os.environ.items() if name != "RUST_BACKTRACE"}
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, env=quiet | environment, timeout=PATIENCE
    )


@pytest.fixture(autouse=True)
def no_core_files() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def test_a_process_that_aborts_says_why_and_where(tmp_path: Path) -> None:
    done = run(tmp_path, "text_tables.print_table", "crash")
    assert done.returncode == -signal.SIGABRT
    assert CRASH in done.stderr
    assert b"Fatal Python error: Aborted" in done.stderr
    assert b"in crash" in done.stderr


def test_a_process_that_aborts_while_it_reads_says_where(tmp_path: Path) -> None:
    done = run(tmp_path, "reading.check_columns", "crash")
    assert done.returncode == -signal.SIGABRT
    assert b"Fatal Python error: Aborted" in done.stderr
    assert b"in crash" in done.stderr


def test_a_panic_over_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    done = run(tmp_path, "reading.check_columns", "panic")
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert done.stderr.endswith(b"t.parquet cannot be read: index out of bounds; write the file again\n")


def test_a_panic_is_shown_when_a_backtrace_is_asked_for(tmp_path: Path) -> None:
    done = run(tmp_path, "reading.check_columns", "panic", RUST_BACKTRACE="1")
    assert done.returncode == 2
    assert PANIC in done.stderr


def test_what_a_library_says_while_a_file_is_read_is_passed_on(tmp_path: Path) -> None:
    done = run(tmp_path, "reading.check_columns", "murmur")
    assert done.returncode == 0
    assert done.stderr.replace(b"\r", b"").startswith(CRASH)
