"""steelyard score --engine: the parts of a run are scored as one run is, and a worker loads its verifier once."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import steelyard as sy
from steelyard.engine import score_worker
from steelyard.engine.score import score_parts
from steelyard.foundation.errors import VerifierError
from steelyard.sampling.llm.address import Address
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.runners.many_requests import TRIES
from steelyard.sampling.verifiers.scored_items import Item, Results
from tests.engine.engines import Here
from tests.engine.in_process import engine
from tests.engine.test_parted_generate import generated, table
from tests.running import steelyard
from tests.sampling.jobs.generating import ask_for
from tests.sampling.jobs.test_score import p_true_words, questions_asked
from tests.sampling.verifiers.verifier_servers import fault_verifier
from tests.upstreams import FaultUpstream

__all__ = ["engine"]
pytestmark = pytest.mark.usefixtures("key")
ENGINE = ("--engine", "ray")


@pytest.fixture
def runs(upstream: FaultUpstream, tmp_path: Path, engine: Here) -> tuple[Path, Path]:
    """The same samples as one run, and as a run in parts."""
    questions = ask_for(tmp_path, 9)
    for name, words in {"plain": (), "run": (*ENGINE, "--parts", "4")}.items():
        assert generated(upstream, questions, tmp_path / name, "m", *words).code == 0
    return tmp_path / "plain", tmp_path / "run"


def test_the_scores_of_all_parts_are_those_of_one_run_and_nothing_is_scored_twice(
    runs: tuple[Path, Path], tmp_path: Path
) -> None:
    plain, run = runs
    with fault_verifier(tmp_path) as server:
        assert steelyard(*p_true_words(plain, server)).code == 0
        once = questions_asked(server)
        done = steelyard(*p_true_words(run, server, *ENGINE, "--workers", "2:8"))
        assert done.code == 0, done.err
        assert json.loads(done.out)["new"] == 18
        assert questions_asked(server) == once + once
        again = steelyard(*p_true_words(run, server, *ENGINE))
        assert (json.loads(again.out)["new"], json.loads(again.out)["scored"]) == (0, 18)
        assert questions_asked(server) == once + once
    assert_frame_equal(table(run), table(plain))
    assert "scored by p-true" in steelyard("status", run).out
    assert json.loads(steelyard("status", run, "--json").out)["verifiers"]["p-true"]["done"] == 18
    log = (run / "progress.log").read_text()
    assert "responses/s" in log
    assert "tokens/s" in log


@pytest.mark.parametrize("verifier", ["judge-pairwise", "same-meaning"])
def test_comparisons_of_all_parts_are_those_of_one_run(runs: tuple[Path, Path], tmp_path: Path, verifier: str) -> None:
    results = []
    with fault_verifier(tmp_path) as server:
        for run, words in zip(runs, ((), ENGINE), strict=True):
            judge = ("--verifier", verifier, "--upstream", f"{server.url}/v1", "--model", "good", "--json")
            done = steelyard("score", run, *judge, *words)
            assert done.code == 0, done.err
            results.append({name: json.loads(done.out)[name] for name in ("new", "comparisons", "ties", "unreadable")})
        asked = len(server.asked())
        assert json.loads(steelyard("score", runs[1], *judge, *ENGINE).out)["new"] == 0
        assert len(server.asked()) == asked
    assert results[0] == results[1]
    assert_frame_equal(table(runs[1]), table(runs[0]))


def test_every_reader_sees_one_table(runs: tuple[Path, Path], tmp_path: Path) -> None:
    verdicts = []
    for run in runs:
        words = ENGINE if run.name == "run" else ()
        assert steelyard("score", run, "--verifier", "logprob", *words).code == 0
        output = tmp_path / f"{run.name}.parquet"
        assert steelyard("vote", run, "--score", "logprob", "--method", "vanilla", "-o", output).code == 0
        verdicts.append(pl.read_parquet(output))
        assert steelyard("import", run, "-o", tmp_path / f"{run.name}.jsonl").code == 0
    assert_frame_equal(*verdicts)
    assert verdicts[0]["question"].to_list() == [f"q{i}" for i in range(9)]
    assert (tmp_path / "run.jsonl").read_text() == (tmp_path / "plain.jsonl").read_text()
    pools = [sy.read(run, score="logprob") for run in runs]
    assert np.array_equal(np.asarray(pools[0].scores), np.asarray(pools[1].scores))


def test_a_worker_keeps_the_model_it_has_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    class Model:
        def __init__(self) -> None:
            self.detected: dict[str, Any] = {}

        async def score(self, items: Iterator[Item]) -> Results:
            for _ in ():
                yield _

        async def close(self) -> None: ...

    async def connect(_: object, model: str, *__: object) -> Model:
        loaded.append(model)
        return Model()

    monkeypatch.setattr(score_worker, "connect", connect)
    monkeypatch.setattr(score_worker, "_loaded", {})
    protocol, known = find_verifier("qwen-prm")
    for model in ("a", "a", "b"):
        asyncio.run(score_worker.cached_runner(known.name, protocol, model, None, None))
    assert loaded == ["a", "b"]


def test_a_worker_reads_the_tokenizer_of_a_served_model_once_for_all_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    asked: list[object] = []

    def load(folder: Path) -> str:
        read.append(folder.name)
        return f"the tokens of {folder.name}"

    async def connect(_: object, tokens: object, *__: object, **___: object) -> None:
        asked.append(tokens)

    monkeypatch.setattr("steelyard.sampling.verifiers.runners.where.Tokens.load", load)
    monkeypatch.setattr("steelyard.sampling.verifiers.runners.vllm.Served.connect", connect)
    monkeypatch.setattr("steelyard.sampling.verifiers.runners.where.model_folder", lambda name, **_: Path(name))
    protocol, known = find_verifier("qwen-prm")
    for model in ("a", "a", "b"):
        asyncio.run(score_worker.cached_runner(known.name, protocol, model, Address("http://127.0.0.1:1/v1"), None))
    assert read == ["a", "b"]
    assert asked == ["the tokens of a", "the tokens of a", "the tokens of b"]


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize(("known", "tried"), [(True, TRIES), (False, 1)])
def test_a_worker_waits_for_its_server_to_come_back_if_it_was_there_for_a_part_before(
    known: bool, tried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Address("http://127.0.0.1:9/v1")
    connections: list[str] = []

    async def connect(_: object, __: object, address: Address, ___: object, **____: object) -> str:
        connections.append(address.base)
        if len(connections) > known:
            raise VerifierError("connection refused")
        return "the server"

    monkeypatch.setattr(score_worker, "connect", connect)
    monkeypatch.setattr(score_worker, "_reached", set[str]())
    protocol, _ = find_verifier("qwen-prm")
    if known:
        asyncio.run(score_worker.cached_runner("qwen-prm", protocol, "m", here, None))
    with pytest.raises(VerifierError, match="connection refused"):
        asyncio.run(score_worker.cached_runner("qwen-prm", protocol, "m", here, None))
    assert len(connections) - known == tried


def test_what_many_workers_cannot_score_is_refused_in_one_line(runs: tuple[Path, Path], tmp_path: Path) -> None:
    plain, run = runs
    words = ("--verifier", "logprob")
    for said, given in {
        "is not a run in parts": (plain, *words, *ENGINE),
        "is a run in parts": (run, *words),
        "--layout cannot be used on a run in parts": (run, *words, *ENGINE, "--layout", "long"),
        "--frugal needs a plan": (run, *words, *ENGINE, "--frugal", "exact"),
        "--gpus-per-worker needs an engine": (plain, *words, "--gpus-per-worker", 1),
        "--workers needs an engine": (plain, *words, "--workers", 2, "--dry-run"),
        "the embedded LLM is for one process": (run, "--verifier", "p-true", "--upstream", "local", *ENGINE),
    }.items():
        done = steelyard("score", *given)
        assert done.code == 2, said
        assert said in done.err
    next(run.glob("part-*")).rename(tmp_path / "elsewhere")
    assert "are not completely sampled" in steelyard("score", run, *words, *ENGINE).err


def test_parts_without_scores_take_none_of_another_model(
    runs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, run = runs
    stopped = Here(most=2)
    monkeypatch.setattr("steelyard.engine.score.engine_of", lambda _: stopped)
    with fault_verifier(tmp_path) as server:
        with pytest.raises(KeyboardInterrupt):
            score_parts(run, "p-true", engine="ray", at=f"{server.url}/v1", model="good")
        stopped.most = None
        asked = questions_asked(server)
        other = steelyard(*p_true_words(run, server, *ENGINE, "--model", "better"))
        assert (other.code, other.err.count("\n")) == (2, 1)
        assert "was begun with other settings (model was 'good', now 'better'): repeat those, or name an" in other.err
        assert questions_asked(server) == asked
        assert steelyard(*p_true_words(run, server, *ENGINE)).code == 0


def test_a_part_of_another_run_is_neither_scored_nor_read(
    upstream: FaultUpstream, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    _, run = runs
    assert generated(upstream, tmp_path / "questions.jsonl", tmp_path / "o", "k", *ENGINE, "--parts", "4").code == 0
    part = next(run.glob("part-*"))
    shutil.rmtree(part)
    shutil.copytree(tmp_path / "o" / part.name, part)
    for words in (("score", run, "--verifier", "logprob", *ENGINE), ("vote", run, "-o", tmp_path / "verdicts.parquet")):
        done = steelyard(*words)
        assert done.code == 2
        assert "is a part of another run (model was 'k', now 'm'): restore the part of this run" in done.err


def test_processes_have_no_gpus_of_their_own(tmp_path: Path) -> None:
    words = ("--verifier", "logprob", "--engine", "processes:2", "--gpus-per-worker", 1)
    done = steelyard("score", tmp_path, *words)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "processes share the GPUs of this machine" in done.err


def test_gpus_that_would_stand_idle_are_refused_in_one_line(tmp_path: Path) -> None:
    for said, words in {
        "logprob does not run in workers, so GPUs would be idle": ("--verifier", "logprob", "--gpus-per-worker", 1),
        "a verifier runs on one GPU, and --gpus-per-worker is 2": (
            "--verifier", "qwen-prm", "--local", "--gpus-per-worker", 2,
        ),
    }.items():  # fmt: skip
        done = steelyard("score", tmp_path, *words, *ENGINE)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert said in done.err
