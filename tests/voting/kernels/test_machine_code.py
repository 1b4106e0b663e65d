"""Machine code that is stored on disk does what the loop does, and needs no numba."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.voting import kernels
from steelyard.voting.kernels.compilation import StandaloneLoop, standalone
from steelyard.voting.kernels.machine_code import MachineCode, kinds_of
from tests.measuring import unmeasured

PROGRAM = """
import sys
import steelyard as sy
sy.write(sy.vote(sys.argv[1], sys.argv[2]), sys.argv[3])
print("numba" in sys.modules)
"""


def vote(*files: Path, **environment: str) -> bool:
    """Vote in a process of its own, and return whether that has loaded numba."""
    command = [sys.executable, "-c", PROGRAM, *map(str, files)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=unmeasured() | environment)
    return done.stdout.strip() == "True"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A table of responses and a plan for it."""
    folder = tmp_path_factory.mktemp("files")
    table, plan = folder / "r.parquet", folder / "plan.json"
    sy.simulate(40, 8, seed=1).write_parquet(table)
    sy.CalibratedVote().fit(sy.read_labelled(sy.simulate(60, 8, seed=2))).save(plan)
    return table, plan


@pytest.fixture(scope="module")
def compiled(files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache and the verdicts of a process that compiles every loop of a vote: it takes seconds."""
    folder = tmp_path_factory.mktemp("compiled")
    assert vote(*files, folder / "one.parquet", NUMBA_CACHE_DIR=str(folder / "cache"))
    return folder


@standalone
def totalled(values, group, total):  # type: ignore[no-untyped-def]
    """Add up values by group, and return how many there are."""
    for i in range(len(values)):
        total[group[i]] += values[i]
    return len(values)


@standalone
def divided(a, b):  # type: ignore[no-untyped-def]
    """Return the quotient of two integers."""
    return a // b


@pytest.mark.long
def test_only_the_first_process_of_a_machine_compiles(files: tuple[Path, Path], compiled: Path, tmp_path: Path) -> None:
    two, other = tmp_path / "two.parquet", tmp_path / "other.parquet"
    cache, expected = str(compiled / "cache"), (compiled / "one.parquet").read_bytes()
    stored = list((compiled / "cache" / "steelyard" / "loops").glob("*.o"))
    assert stored
    assert not vote(*files, two, NUMBA_CACHE_DIR=cache)
    assert two.read_bytes() == expected
    for file in stored:
        file.write_bytes(file.read_bytes()[:-1])
    assert vote(*files, other, NUMBA_CACHE_DIR=cache), "damaged files are compiled again"
    assert other.read_bytes() == expected


def test_the_verdicts_are_those_of_plain_loops(files: tuple[Path, Path], tmp_path: Path) -> None:
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    vote(*files, one)
    assert vote(*files, other, NUMBA_DISABLE_JIT="1")
    assert one.read_bytes() == other.read_bytes()


def test_every_standalone_loop_of_a_vote_is_machine_code() -> None:
    pool = sy.read_labelled(sy.simulate(30, 8, seed=1))
    for name in ("majority", "vanilla", "best-of-n", "logit", "calibrated"):
        voter = sy.method_class(name)()
        (voter.fit(pool) if voter.learns else voter).predict(pool)
    loops = {name: loop for name, loop in vars(kernels).items() if isinstance(loop, StandaloneLoop)}
    used = {name: list(loop.by_kinds.values()) for name, loop in loops.items() if loop.by_kinds}
    assert {"code_texts", "tally", "best_weights"} <= set(used)
    assert all(isinstance(code, MachineCode) for codes in used.values() for code in codes)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, np.uint8, np.bool_])
def test_arrays_of_any_type_are_passed(kind: type[Any]) -> None:
    values = np.array([1, 0, 1, 1], kind)
    total = np.zeros(3)
    assert totalled(values, np.array([0, 1, 2, 0], np.int32), total) == 4
    assert total.tolist() == [2, 0, 1]


def test_arrays_that_are_not_contiguous_are_counted_too() -> None:
    values, total = np.arange(10.0)[::2], np.zeros(2)
    assert kinds_of((values,)) is None
    assert totalled(values, np.array([0, 1, 0, 1, 0]), total) == 5
    assert total.tolist() == [12, 8]


def test_numbers_and_arrays_that_machine_code_cannot_take_are_left_to_numba() -> None:
    assert kinds_of((np.array(3.0),)) is None
    assert kinds_of((2**63,)) is None
    assert kinds_of((True,)) is None
    with pytest.raises(Exception, match="too large"):
        divided(2**64 + 5, 1)


def test_a_loop_that_depends_on_more_than_its_arguments_is_refused() -> None:
    outside = 3
    with pytest.raises(TypeError, match="pass them as arguments"):
        standalone(lambda x: x + outside)


def test_loops_are_pickled_by_name() -> None:
    kernels.distinct(np.array([0, 1]), np.array([0], np.int32), np.array([-1]), np.empty(1, np.int64))
    assert pickle.loads(pickle.dumps(kernels.distinct)) is kernels.distinct


@pytest.mark.long
def test_settings_of_numba_have_code_of_their_own(files: tuple[Path, Path], compiled: Path, tmp_path: Path) -> None:
    cache, other = str(compiled / "cache"), tmp_path / "other.parquet"
    assert vote(*files, other, NUMBA_CACHE_DIR=cache, NUMBA_BOUNDSCHECK="1")
    assert other.read_bytes() == (compiled / "one.parquet").read_bytes()
    assert not vote(*files, other, NUMBA_CACHE_DIR=cache)
    assert other.read_bytes() == (compiled / "one.parquet").read_bytes()


def test_what_a_loop_raises_is_raised() -> None:
    assert divided(7, 2) == 3
    with pytest.raises(ZeroDivisionError):
        divided(7, 0)


def test_a_loop_that_allocates_is_refused_when_it_is_compiled() -> None:
    @standalone
    def allocating(n):  # type: ignore[no-untyped-def]
        return np.zeros(n).sum()

    with pytest.raises(Exception, match="zeros"):
        allocating(3)


@pytest.mark.long
@pytest.mark.skipif("NUDGE" in os.environ, reason="the loops are compiled in another folder")
def test_a_place_that_cannot_be_written_costs_only_time(files: tuple[Path, Path], tmp_path: Path) -> None:
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    vote(*files, one)
    assert vote(*files, other, XDG_CACHE_HOME=os.devnull, NUMBA_CACHE_DIR="")
    assert one.read_bytes() == other.read_bytes()
