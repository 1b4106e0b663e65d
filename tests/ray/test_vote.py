"""A vote on a real Ray cluster of two nodes ends as it does without Ray, whatever dies on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import steelyard as sy
from steelyard.engine.engines import engine_of
from steelyard.engine.scheduler import Failed, Finished
from steelyard.engine.vote_parts import vote_parts
from steelyard.foundation.errors import SettingError
from steelyard.tables.partitioning import partition
from tests.engine.tasks import fatal, parts
from tests.ray.cluster import add_node, command, two_nodes, workers
from tests.waiting import PATIENCE

PARTS = 40


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with two_nodes() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parted")
    partition(sy.simulate(400, 16, seed=3), folder / "parts", PARTS)
    sy.CalibratedVote().fit(sy.read_labelled(sy.simulate(200, 16, seed=9))).save(folder / "plan.json")
    return folder


def decided(folder: Path) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(path) for path in sorted(folder.glob("part-*.parquet"))]).sort("question")


def undisturbed(folder: Path) -> pl.DataFrame:
    return sy.vote(folder / "parts", folder / "plan.json").sort("question")


def test_workers_and_a_node_that_die_cost_only_what_they_were_doing(cluster: Any, folder: Path, tmp_path: Path) -> None:
    steps = []

    def disturb(share: float) -> None:
        steps.append(share)
        if len(steps) == 3:
            for process in workers():
                os.kill(process, signal.SIGKILL)
        if len(steps) == 8:
            cluster.remove_node(cluster.nodes.pop(), allow_graceful=False)

    engine = engine_of(f"ray:{cluster.address}")
    vote_parts(folder / "parts", tmp_path / "out", engine, plan=folder / "plan.json", workers=2, progress=disturb)
    cluster.nodes.append(add_node(cluster))
    assert len(steps) == PARTS
    assert decided(tmp_path / "out").equals(undisturbed(folder))


def voting(cluster: Any, folder: Path, out: Path) -> subprocess.Popen[str]:
    parts, plan = folder / "parts", folder / "plan.json"
    return command("vote", parts, "--plan", plan, "-o", out, "--json", "--engine", f"ray:{cluster.address}")


def sealed_after(going: subprocess.Popen[str], out: Path, number: int) -> dict[str, int]:
    """Wait until so many parts are sealed; return when each was written."""
    while going.poll() is None and len(list(out.glob("part-*.json"))) < number:
        time.sleep(0.002)
    return {path.name: path.stat().st_mtime_ns for path in out.glob("part-*.json")}


def test_a_driver_that_is_killed_or_stopped_goes_on_where_it_was(cluster: Any, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = voting(cluster, folder, out)
    kept = sealed_after(first, out, 1)
    first.kill()
    first.communicate()
    assert not (out / "summary.json").exists()
    second = voting(cluster, folder, out)
    sealed_after(second, out, len(kept) + 3)
    second.send_signal(signal.SIGINT)
    _, said = second.communicate(timeout=PATIENCE)
    assert (second.returncode, said.splitlines()[-1]) == (130, "stopped")
    assert not (out / "summary.json").exists()
    third = voting(cluster, folder, out)
    printed, said = third.communicate(timeout=PATIENCE)
    assert third.returncode == 0, said
    assert '"questions": 400' in printed
    assert printed.startswith("{")
    assert decided(out).equals(undisturbed(folder))
    assert {name: (out / name).stat().st_mtime_ns for name in kept} == kept


def test_a_poisoned_part_is_named_and_the_rest_is_done(cluster: Any, tmp_path: Path) -> None:
    ended = {each.part.value: each for each in engine_of(f"ray:{cluster.address}").run(fatal, tmp_path, parts(6))}
    assert {i: each.summary for i, each in ended.items() if isinstance(each, Finished)} == {0: 0, 1: 1, 5: 5}
    reasons = {each.part.name: each.reason for each in ended.values() if isinstance(each, Failed)}
    assert set(reasons) == {"part-00002", "part-00003", "part-00004"}
    assert "3 workers in a row died while they processed it" in reasons["part-00002"]


def test_a_worker_with_another_plan_is_refused(cluster: Any, folder: Path, tmp_path: Path) -> None:
    reads = {str(folder / "plan.json"): "0" * 64}
    with pytest.raises(SettingError, match=r"reads another .*plan.json than this command"):
        list(engine_of(f"ray:{cluster.address}").run(fatal, tmp_path, parts(6), reads=reads))


def test_a_worker_with_another_version_is_refused(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.engine.ray_engine.__version__", "99.0")
    with pytest.raises(SettingError, match=r"has Steelyard \S+, and this command is 99.0: install 99.0 on every"):
        list(engine_of(f"ray:{cluster.address}").run(fatal, tmp_path, parts(6)))


ALONE = """
import os, time
import tests.ray.listening as listening
from steelyard.engine.engines import engine_of
from tests.engine.tasks import parts, priority
from tests.ray.cluster import descendants

run = engine_of("ray").run(priority, None, parts(3), workers=1)
print(next(run).summary - os.nice(0))
print(*listening.addresses(), sep=",")
run.close()
until = time.monotonic() + 120
while descendants(os.getpid()) and time.monotonic() < until:
    time.sleep(0.1)
print(len(descendants(os.getpid())))
"""


def test_ray_that_is_started_for_one_command_has_its_priority_listens_on_loopback_and_is_gone_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "127.0.0.1", "0"], done.stderr


IMPORTED = """
import ray
from steelyard.engine.engines import engine_of
from steelyard.foundation.errors import SettingError
from tests.engine.tasks import parts, priority

try:
    list(engine_of("ray").run(priority, None, parts(1), workers=1))
except SettingError as error:
    print(error)
"""


def test_ray_that_was_imported_without_its_setting_for_loopback_is_not_started() -> None:
    name = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
    environment = {key: value for key, value in os.environ.items() if key != name}
    words = [sys.executable, "-c", IMPORTED]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.startswith("Ray was imported before Steelyard could keep it to 127.0.0.1"), done.stderr
    assert f"{name}=0" in done.stdout
