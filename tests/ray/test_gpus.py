"""score --gpus-per-worker on real Ray nodes that say they have GPUs: Ray gives them out, though there are none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.engine.scheduler import LIMIT
from tests.ray.cluster import add_node, command, only_a_head
from tests.ray.gpu_workers import TOLD, expect, most_at_once, scored, told
from tests.running import Done, steelyard
from tests.sampling.jobs.generating import ask_for
from tests.upstreams import fault_upstream
from tests.waiting import PATIENCE

pytestmark = pytest.mark.usefixtures("key")
PARTS = 8


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A node with two GPUs, and one without; the last test takes the first away."""
    with only_a_head() as cluster:
        cluster.with_gpus = add_node(cluster, cpus=6, gpus=2)
        add_node(cluster, cpus=2)
        yield cluster


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with fault_upstream(tmp_path) as upstream:
        asked = ("--upstream", upstream.url, "--model", "m", "-n", 2, "-o", tmp_path / "run")
        done = steelyard("generate", ask_for(tmp_path, 40), *asked, "--engine", "processes:1", "--parts", PARTS)
    assert done.code == 0, done.err
    return tmp_path / "run"


@pytest.fixture(autouse=True)
def told_by_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.engine.score.score_part", scored)


def words(run: Path, cluster: Any) -> tuple[object, ...]:
    return ("score", run, "--verifier", "qwen-prm", "--local", "--engine", f"ray:{cluster.address}", "--json")


def score(run: Path, cluster: Any, *more: object, models: int = 2) -> Done:
    expect(run, models)
    return steelyard(*words(run, cluster), *more)


def test_every_worker_has_a_gpu_of_its_own_and_loads_its_model_once(cluster: Any, run: Path) -> None:
    done = score(run, cluster, "--gpus-per-worker", 1, "--workers", 2)
    assert (done.code, "room for" in done.err) == (0, False), done.err
    loads, works = told(run, "loads"), told(run, "works")
    assert sorted(each["device"] for each in loads) == ["0", "1"]
    assert len({each["process"] for each in loads}) == len(loads) == 2
    assert len(works) == PARTS
    assert most_at_once(works) == 2


def test_more_workers_than_gpus_are_told_of_and_those_that_fit_do_the_work(cluster: Any, run: Path) -> None:
    done = score(run, cluster, "--gpus-per-worker", 1, "--workers", 8)
    assert done.code == 0, done.err
    assert "the Ray cluster has room for 2 of 8 workers now (3 nodes, 8 CPUs and 2 GPUs in all; each" in done.err
    assert most_at_once(told(run, "works")) == 2
    assert {each["device"] for each in told(run, "works")} == {"0", "1"}


def test_workers_share_a_gpu_where_they_ask_for_a_part_of_one(cluster: Any, run: Path) -> None:
    done = score(run, cluster, "--gpus-per-worker", 0.5, models=4)  # as many as there is room for
    assert done.code == 0, done.err
    assert sorted(each["device"] for each in told(run, "loads")) == ["0", "0", "1", "1"]
    assert 2 < most_at_once(told(run, "works")) <= 4


def test_a_local_verifier_takes_one_gpu_where_nothing_is_said_and_none_with_0(cluster: Any, run: Path) -> None:
    assert score(run, cluster, "--workers", 2).code == 0
    assert {each["device"] for each in told(run, "loads")} == {"0", "1"}
    assert score(run, cluster, "--workers", 2, "--gpus-per-worker", 0, "--as", "on-cpus", models=4).code == 0
    assert [each["device"] for each in told(run, "loads")].count("") == 2


def test_a_cluster_without_gpus_is_an_error_at_once_and_with_a_range_they_are_waited_for(
    cluster: Any, run: Path
) -> None:
    cluster.remove_node(cluster.with_gpus)
    began = time.monotonic()
    done = score(run, cluster, "--gpus-per-worker", 1, "--workers", 2)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "each worker takes 1 CPU and 1 GPU, and no node of the Ray cluster has that (2 nodes, 2 CPUs and" in done.err
    assert "or give a range as --workers 1:8 if Ray adds nodes" in done.err
    assert time.monotonic() - began < LIMIT
    waiting = command(*words(run, cluster), "--gpus-per-worker", 1, "--workers", "1:2", first=TOLD)
    assert waiting.stderr
    assert any("has room for 0 of 2 workers now" in line for line in waiting.stderr)
    assert not told(run, "loads")
    add_node(cluster, cpus=2, gpus=2)
    _, said = waiting.communicate(timeout=PATIENCE)
    assert waiting.returncode == 0, said
    assert sorted(each["device"] for each in told(run, "loads")) == ["0", "1"]
