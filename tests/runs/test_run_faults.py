"""Runs under real faults: processes that are killed, stopped or too many, and disks that are full or broken.

A few kills are tried here; the whole sweep, 200 kills and every write once, is
    KILLS=200 WRITES=all python -m pytest tests/runs/test_run_faults.py
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.runs.lock import PAUSE, TRIES, holder
from steelyard.runs.run import Run
from steelyard.runs.status import status
from tests.measuring import unmeasured
from tests.runs.run_writer import MANIFEST, QUESTIONS, sample
from tests.waiting import PATIENCE, until

KILLS = int(os.environ.get("KILLS", "6"))
WRITES = os.environ.get("WRITES", "write:1,fdatasync:2,/^rename:4")
CALLS = ("write", "pwrite64", "fsync", "fdatasync", "ftruncate", "/^rename")
NAMES = {"manifest.json", "journal.jsonl", "lock"} | {
    f"{name}.{suffix}" for name in ("questions", "table") for suffix in ("parquet", "json")
}
ROOT = Path(__file__).parents[2]


def writer(
    folder: Path, *, before: tuple[str, ...] = (), padding: int = 0, tasks: int = 6, pause: float = 0.002,
    rest: float = 0.0, **more: Any,
) -> subprocess.Popen[str]:  # fmt: skip
    words = [folder / "run", folder / "ledger", padding, tasks, pause, rest]
    command = [*before, sys.executable, "-m", "tests.runs.run_writer", *map(str, words)]
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=ROOT, env=unmeasured(), **streams, **more)


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, err = process.communicate(timeout=PATIENCE)
    return process.returncode, err


def ledger(folder: Path) -> list[tuple[str, str]]:
    lines = (folder / "ledger").read_text().splitlines() if (folder / "ledger").exists() else []
    return [(word, key) for word, _, key in (line.partition(" ") for line in lines)]


def kept(folder: Path) -> set[str]:
    if not (folder / "run" / "manifest.json").exists():
        return set()
    with Run.open(folder / "run") as run:
        return {f"{r['kind']} {r['question']} {r['sample']}" for r in run.records()}


def nothing_safe_was_lost_or_asked_again(folder: Path) -> None:
    safe: set[str] = set()
    for word, key in ledger(folder):
        assert not (word == "asked" and key in safe), f"{key} was safe and is asked again"
        safe |= {key} if word == "safe" else set()
    assert safe <= kept(folder)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], float]:
    """The files of a run that nothing happened to, and how long it took."""
    folder = tmp_path_factory.mktemp("whole")
    start = time.monotonic()
    assert finish(writer(folder)) == (0, "")
    return _files(folder), time.monotonic() - start


def _files(folder: Path) -> dict[str, bytes]:
    """What must be the same however a run came to its end; the journal is in the order of arrival."""
    run = folder / "run"
    assert {path.name for path in run.iterdir()} == NAMES
    files = {name: (run / name).read_bytes() for name in ("manifest.json", "questions.parquet", "table.parquet")}
    return files | {"records": "\n".join(sorted(kept(folder))).encode()}


@pytest.mark.long
def test_kills_at_random_instants_lose_nothing_safe_and_change_no_row(
    tmp_path: Path, whole: tuple[dict[str, bytes], float]
) -> None:
    files, duration = whole
    rng = random.Random(7)
    kills = finished = 0
    fresh = True
    while kills < KILLS or not finished:
        folder = tmp_path / str(finished)
        folder.mkdir(exist_ok=True)
        start, process = time.monotonic(), writer(folder)
        code = finish_within(process, rng.uniform(0.1, 1) * duration if kills < KILLS else PATIENCE)
        process.kill()
        process.communicate()
        nothing_safe_was_lost_or_asked_again(folder)
        kills += code is None
        if code is not None:
            assert code == 0
            assert _files(folder) == files
            duration = time.monotonic() - start if fresh else duration  # the machine may be busier than before
            finished += 1
        fresh = code is not None
    print(f"{kills} kills over {finished} runs")


def finish_within(process: subprocess.Popen[str], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


@pytest.fixture(scope="module")
def strace() -> str:
    found = shutil.which("strace")
    if not found or subprocess.run([found, "-o", "/dev/null", "true"], check=False).returncode:
        pytest.skip("needs strace and the right to use it")
    return found


def places_to_kill() -> Iterator[tuple[str, Iterable[int]]]:
    """The k-th write, fsync, .. of the process: strace counts each call of each thread by itself."""
    if WRITES == "all":
        yield from ((call, count(1)) for call in CALLS)
    else:
        yield from ((call, [int(k)]) for call, _, k in (part.partition(":") for part in WRITES.split(",")))


@pytest.mark.long
def test_a_kill_at_any_write_loses_nothing_safe_and_changes_no_row(
    tmp_path: Path, whole: tuple[dict[str, bytes], float], strace: str
) -> None:
    killed: list[str] = []
    for call, numbers in places_to_kill():
        for k in numbers:
            folder = tmp_path / f"{call.strip('/^')}-{k}"
            folder.mkdir()
            inject = f"inject={call}:signal=KILL:when={k}"
            before = (strace, "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject)
            code, _ = finish(writer(folder, before=before, tasks=96, pause=0))
            nothing_safe_was_lost_or_asked_again(folder)
            if code == 0:  # there are fewer such calls
                break
            killed.append(f"{call}:{k}")
            assert finish(writer(folder, pause=0))[0] == 0
            assert _files(folder) == whole[0]
            shutil.rmtree(folder)
    assert WRITES in ("all", ",".join(killed))
    print(f"killed at each of {len(killed)} writes: {' '.join(killed)}")


def test_what_is_called_safe_was_synced_and_files_are_synced_before_they_take_their_place(
    tmp_path: Path, strace: str
) -> None:
    """A kill leaves the page cache alone, a power cut does not: look at the order of the calls."""
    log = tmp_path / "log"
    calls = "trace=openat,write,writev,fsync,fdatasync,/^rename"
    assert finish(writer(tmp_path, before=(strace, "-f", "-y", "-s", "100000", "-o", str(log), "-e", calls)))[0] == 0
    written, synced, told = "", "", 0
    flushed: set[str] = set()
    for line in log.read_text().splitlines():
        if re.search(r" write\(\d+<[^>]*journal\.jsonl>", line):
            written += line
        elif re.search(r"fdatasync.*journal\.jsonl|fdatasync resumed", line) and "unfinished" not in line:
            synced = written
        elif safe := re.search(r'writev\(.*"safe (\w+) (\w+) (\d+)\\n"', line):
            kind, question, number = safe.groups()
            told += 1
            assert re.search(rf'"kind\\":\\"{kind}\\",[^{{}}]*{question}\\",\\"sample\\":{number}[,}}]', synced), line
        elif sync := re.search(r" fsync\(\d+<([^>]*)>", line):
            flushed.add(sync[1])
        elif rename := re.search(r'rename\w*\(.*?"([^"]+)".*"([^"]+)"', line):
            assert rename[1] in flushed, line
            flushed.discard(str(tmp_path / "run"))
    assert told == 2 * 96
    assert str(tmp_path / "run") in flushed  # the last name that changed


def test_a_broken_disk_is_one_line_and_the_run_goes_on_after_it(
    tmp_path: Path, whole: tuple[dict[str, bytes], float], strace: str
) -> None:
    inject = (strace, "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fdatasync")
    code, err = finish(writer(tmp_path, before=(*inject, "-e", "inject=fdatasync:error=EIO:when=3")))
    assert (code, err.count("\n")) == (2, 1), err
    assert f"bytes to {tmp_path / 'run' / 'journal.jsonl'}: Input/output error" in err
    nothing_safe_was_lost_or_asked_again(tmp_path)
    assert finish(writer(tmp_path)) == (0, "")
    assert _files(tmp_path) == whole[0]


def test_a_file_that_may_not_grow_fails_everybody_who_waits_and_is_whole_afterwards(tmp_path: Path) -> None:
    limit = 30_000

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    code, err = finish(writer(tmp_path, padding=300, preexec_fn=small_files))
    assert (code, err.count("\n")) == (2, 1), err
    assert "journal.jsonl: File too large" in err
    assert "bytes free" in err
    nothing_safe_was_lost_or_asked_again(tmp_path)
    assert status(tmp_path / "run")["torn_bytes"] == 0
    assert finish(writer(tmp_path, padding=300)) == (0, "")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount: list[str | Path] = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_is_one_line_and_the_run_goes_on_when_there_is_room(small_disk: Path) -> None:
    code, err = finish(writer(small_disk, padding=1000))
    assert (code, err.count("\n")) == (2, 1), err
    assert f"{small_disk / 'run' / 'journal.jsonl'}: No space left on device" in err
    nothing_safe_was_lost_or_asked_again(small_disk)
    subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
    assert finish(writer(small_disk, padding=1000)) == (0, "")
    nothing_safe_was_lost_or_asked_again(small_disk)


def test_a_disk_too_full_for_the_table_leaves_the_old_table(small_disk: Path) -> None:
    with Run.start(small_disk / "run", MANIFEST, QUESTIONS) as run:
        run.add_now([sample("q00", 0)])
        old = run.write_table().read_bytes()
        rng = random.Random(0)
        noise = [sample("q01", i) | {"response": "".join(rng.choices("abcdefgh", k=14_000))} for i in range(8)]
        run.add_now(noise)
        (small_disk / "ballast").write_bytes(bytes(shutil.disk_usage(small_disk).free - 16_384))
        with pytest.raises(sy.errors.RunError, match=r"cannot write .*table\.parquet.*bytes free"):
            run.write_table()
        assert (small_disk / "run" / "table.parquet").read_bytes() == old
        (small_disk / "ballast").unlink()
        assert sy.read(run.write_table(), score="none").n_responses == 9


def test_a_second_process_is_refused_at_once_with_who_has_the_run(tmp_path: Path) -> None:
    first = writer(tmp_path, rest=3600)
    try:
        until(lambda: any(word == "safe" for word, _ in ledger(tmp_path)))
        assert holder(tmp_path / "run") == {"pid": first.pid, "host": socket.gethostname()}
        assert TRIES * PAUSE < 1  # seconds until it is refused
        with pytest.raises(sy.errors.RunError, match=f"in use by process {first.pid} on {socket.gethostname()}"):
            Run.start(tmp_path / "run", MANIFEST, QUESTIONS)
        assert status(tmp_path / "run")["writer"]["pid"] == first.pid  # who only looks is welcome
        assert finish(writer(tmp_path))[0] == 2
    finally:
        first.kill()
        first.communicate()
    assert json.loads((tmp_path / "run" / "lock").read_text())["pid"] == first.pid
    assert holder(tmp_path / "run") is None
    assert finish(writer(tmp_path))[0] == 0


def test_ctrl_c_keeps_what_is_safe_and_frees_the_run(tmp_path: Path, whole: tuple[dict[str, bytes], float]) -> None:
    process = writer(tmp_path, rest=3600)
    until(lambda: sum(word == "safe" for word, _ in ledger(tmp_path)) > 5)
    process.send_signal(signal.SIGINT)
    assert finish(process) == (130, "")
    assert (tmp_path / "run" / "lock").read_bytes() == b""
    nothing_safe_was_lost_or_asked_again(tmp_path)
    assert finish(writer(tmp_path)) == (0, "")
    assert _files(tmp_path) == whole[0]


def test_a_finished_run_asks_nothing_and_changes_no_file(tmp_path: Path) -> None:
    def files() -> list[tuple[Path, bytes, int]]:
        return [(path, path.read_bytes(), path.stat().st_mtime_ns) for path in (tmp_path / "run").glob("*.*")]

    finish(writer(tmp_path))
    before = files()
    (tmp_path / "ledger").unlink()
    assert finish(writer(tmp_path)) == (0, "")
    assert ledger(tmp_path) == []
    assert files() == before
