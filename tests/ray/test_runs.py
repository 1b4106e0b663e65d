"""generate and score on a real Ray cluster of two nodes: whatever dies on the way, the run is that of one process."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import steelyard as sy
from steelyard.runs.parted_run import PartedRun
from steelyard.runs.run import Run
from steelyard.sampling.verifiers.protocols import p_true
from steelyard.sampling.verifiers.scored_items import split
from tests.ray.cluster import add_node, command, two_nodes, workers
from tests.running import steelyard
from tests.sampling.jobs.generating import ask_for
from tests.sampling.jobs.test_score import p_true_words, questions_asked
from tests.sampling.verifiers.verifier_servers import FaultVerifier, fault_verifier
from tests.upstreams import FaultUpstream, fault_upstream
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.usefixtures("key")
PARTS, QUESTIONS, N, AT_ONCE = 6, 60, 4, 2  # requests of a worker
WANTED = QUESTIONS * N


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with two_nodes() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultUpstream]:
    with fault_upstream(tmp_path_factory.mktemp("upstream"), delay=0.15) as server:
        yield server


def words(upstream: FaultUpstream, folder: Path, model: str, *more: object) -> tuple[object, ...]:
    asked = ("--upstream", upstream.url, "--model", model, "-n", N, "--concurrency", AT_ONCE)
    return ("generate", ask_for(folder, QUESTIONS), *asked, "-o", folder / "run", *more)


def on(cluster: Any) -> tuple[object, ...]:
    return ("--engine", f"ray:{cluster.address}", "--workers", 2)


def records(run: Path, kind: str) -> int:
    """How many samples, or scores, are in the journals of all parts now."""
    mark = b'"kind":"' + kind.encode() + b'"'
    found = 0
    for journal in run.glob("part-*/journal.jsonl"):
        try:
            found += journal.read_bytes().count(mark)
        except OSError:  # it is being renamed
            return records(run, kind)
    return found


def once_there(run: Path, kind: str, count: int) -> None:
    until(lambda: records(run, kind) >= count)


@contextmanager
def meanwhile(*acts: Callable[[], object]) -> Iterator[None]:
    """Do things one after the other in a thread, while the block runs; what goes wrong is raised after it."""
    wrong: list[BaseException] = []

    def act() -> None:
        try:
            for each in acts:
                each()
        except BaseException as error:  # noqa: BLE001
            wrong.append(error)

    thread = threading.Thread(target=act)
    thread.start()
    yield
    thread.join()
    if wrong:
        raise wrong[0]


def kill_workers() -> None:
    found = workers()
    assert found
    for process in found:
        os.kill(process, signal.SIGKILL)


def kill_node(cluster: Any) -> None:
    cluster.remove_node(cluster.nodes.pop(), allow_graceful=False)


@pytest.fixture
def another_node(cluster: Any) -> Iterator[None]:
    """Add a node after the test, for the one that it has killed; only the main thread can."""
    yield
    cluster.nodes.append(add_node(cluster))


def table(run: Path) -> pl.DataFrame:
    sy.read(run, score="none")
    return pl.read_parquet(run / "table.parquet")


def asked_again(counts: Counter[Any]) -> int:
    return sum(count - 1 for count in counts.values())


@pytest.fixture(scope="module")
def undisturbed(slow: FaultUpstream, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The table of the run of one process."""
    folder = tmp_path_factory.mktemp("plain")
    given = [*words(slow, folder, "m")]
    given[given.index("--concurrency") + 1] = 64
    os.environ.setdefault("OPENAI_API_KEY", "none")
    assert steelyard(*given).code == 0
    return table(folder / "run")


@pytest.mark.usefixtures("another_node")
def test_workers_and_a_node_that_die_while_sampling_cost_only_what_was_in_flight(
    cluster: Any, slow: FaultUpstream, undisturbed: pl.DataFrame, tmp_path: Path
) -> None:
    run, given = tmp_path / "run", words(slow, tmp_path, "m", *on(cluster), "--parts", PARTS, "--fan-out")
    before = slow.samples("m")

    def after(count: int) -> Callable[[], None]:
        return lambda: once_there(run, "sample", count)

    slow.allow(60)
    more = partial(slow.allow, 120)
    with meanwhile(after(20), kill_workers, more, after(100), lambda: kill_node(cluster), slow.allow):
        going = command(*given, "--json")
        out, err = going.communicate(timeout=PATIENCE)
    assert going.returncode == 0, err
    assert json.loads(out)["samples"] == WANTED  # what Ray says of dead workers is not in between
    assert_frame_equal(table(run), undisturbed)
    asked = slow.samples("m") - before
    assert set(asked) == set(before)
    assert asked_again(asked) <= 3 * 2 * AT_ONCE  # three workers died, each with so many samples in flight and on disk


def test_a_driver_that_is_killed_while_sampling_goes_on_where_it_was(
    cluster: Any, slow: FaultUpstream, undisturbed: pl.DataFrame, tmp_path: Path
) -> None:
    run, given = tmp_path / "run", words(slow, tmp_path, "m", *on(cluster), "--parts", PARTS, "--fan-out")
    before = slow.samples("m")
    slow.allow(80)
    first = command(*given)
    once_there(run, "sample", 40)
    first.kill()
    first.communicate()
    slow.allow(120)
    second = command(*given)
    once_there(run, "sample", 120)
    second.send_signal(signal.SIGINT)
    slow.allow()
    second.communicate(timeout=PATIENCE)
    assert second.returncode == 130
    done = steelyard(*given)
    assert done.code == 0, done.err
    assert_frame_equal(table(run), undisturbed)
    asked = slow.samples("m") - before
    assert asked_again(asked) <= 2 * 2 * 2 * AT_ONCE  # two commands of two workers


@pytest.fixture
def parted(cluster: Any, tmp_path: Path) -> Path:
    with fault_upstream(tmp_path) as quick:
        done = steelyard(*words(quick, tmp_path, "m", *on(cluster), "--parts", PARTS))
    assert done.code == 0, done.err
    return tmp_path / "run"


@pytest.fixture
def verifier(tmp_path: Path) -> Iterator[FaultVerifier]:
    with fault_verifier(tmp_path, delay=0.05) as server:
        yield server


def scored_alone(run: Path, server: FaultVerifier) -> pl.DataFrame:
    """The scores of the same responses without parts."""
    rows = pl.read_parquet(run / "table.parquet").drop("p-true")
    rows.write_parquet(run.parent / "alone.parquet")
    done = steelyard(*p_true_words(run.parent / "alone.parquet", server))
    assert done.code == 0, done.err
    return pl.read_parquet(run.parent / "alone.scored" / "table.parquet")


class Deaths:
    """What each death cost: what the verifier was asked by then and the disk did not have."""

    def __init__(self, run: Path, server: FaultVerifier) -> None:
        self.run, self.server = run, server
        self.kept: list[tuple[set[str], int]] = []  # the texts that had a score on the disk, and the requests so far
        self.lost: list[int] = []

    def after(self, kill: Callable[[], object], under: int | None = None) -> None:
        """Kill, wait until all workers `under` a process are dead, and look at the disk, then at the ledger."""
        dying = workers(under)
        kill()
        until(lambda: not any(Path(f"/proc/{process}").exists() for process in dying))
        self.server.allow()  # it has read what the dead have sent
        kept = scored_texts(self.run)
        self.kept.append((kept, len(self.server.asked())))
        self.lost.append(len(set(questions_asked(self.server)) - kept))

    def asked_again(self) -> list[str]:
        """The texts that were asked about after a death before which their scores were on the disk."""
        entries = [entry["text"] for entry in self.server.asked()]
        return [text for kept, so_far in self.kept for text in entries[so_far:] if text in kept]


def scored_texts(run: Path) -> set[str]:
    """What the verifier was asked about every response that has a score on the disk."""
    found: set[str] = set()
    for part in run.glob("part-*"):
        with Run.open(part) as opened:
            prompts = dict(opened.questions.select("question", "prompt").iter_rows())
            done = opened.state.scores["p-true"].done
            for sample in opened.samples():
                if (sample["question"], sample["sample"]) in done:
                    (message,) = p_true.render(prompts[sample["question"]], split(sample["response"], "whole"))
                    found.add(message["content"])
    return found


@pytest.mark.usefixtures("another_node")
def test_workers_a_node_and_the_driver_that_die_while_scoring_cost_only_what_was_in_flight(
    cluster: Any, parted: Path, verifier: FaultVerifier
) -> None:
    given, deaths = p_true_words(parted, verifier, *on(cluster)), Deaths(parted, verifier)
    first = command(*given)
    once_there(parted, "score", 20)
    deaths.after(first.kill)
    first.communicate()
    there = records(parted, "score")

    def after(count: int) -> Callable[[], None]:
        return lambda: once_there(parted, "score", min(WANTED - 40, there + count))

    def end_a_node() -> None:
        (raylet,) = cluster.nodes[-1].all_processes["raylet"]
        deaths.after(lambda: kill_node(cluster), under=raylet.process.pid)

    with meanwhile(after(10), lambda: deaths.after(kill_workers), after(60), end_a_node):
        done = steelyard(*given)
    assert done.code == 0, done.err
    asked, found = questions_asked(verifier), table(parted)
    assert found["p-true"].null_count() == 0
    assert set(asked) == scored_texts(parted)
    assert len(asked) == WANTED
    assert deaths.asked_again() == []
    largest = max(part.questions for part in PartedRun.read(parted).parts) * N
    assert asked_again(asked) <= sum(deaths.lost)
    assert max(deaths.lost) <= 2 * largest  # two workers, at one part each
    alone = scored_alone(parted, verifier)
    assert_frame_equal(found.select("question", "sample", "p-true"), alone.select("question", "sample", "p-true"))
