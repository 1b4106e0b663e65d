"""A run in parts is scored by two workers on two real vLLM servers, also when one of them is killed on the way.

The engine is Ray where the environment has it, and processes of this machine where it has not.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.protocol import TokenProtocol
from steelyard.sampling.verifiers.runners.many_requests import MOST
from tests.engine.test_parted_generate import generated, table
from tests.models import tiny
from tests.models.vllm_server import Server
from tests.running import steelyard, without_progress
from tests.sampling.jobs.generating import ask_for
from tests.upstreams import FaultUpstream
from tests.waiting import until

QUESTIONS, N, PARTS = 60, 16, 12
ALL = QUESTIONS * N
ENGINE = ("--engine", "ray" if find_spec("ray") else "processes:2", "--workers", 2)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.make("qwen-prm", tmp_path_factory.mktemp("served") / "model")


@pytest.fixture(scope="module")
def flags() -> str:
    protocol, _ = find_verifier("qwen-prm")
    assert isinstance(protocol, TokenProtocol)
    return protocol.served


@pytest.fixture(scope="module")
def first(model: Path, flags: str) -> Iterator[Server]:
    server = Server(model, flags)
    with server:
        yield server


def url(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}/v1"


def steps(run: Path, column: str = "qwen-prm") -> list[float]:
    return table(run).sort("question", "sample")[column].explode().to_list()


def _killed(server: Server, after: int) -> None:
    """Kill a server once it has answered so many requests."""
    until(lambda: server.asked() >= after)
    server.kill()


@pytest.mark.usefixtures("key")
def test_parts_have_the_scores_of_one_process_and_a_server_that_dies_costs_its_parts_until_it_is_back(
    upstream: FaultUpstream, tmp_path: Path, model: Path, flags: str, first: Server
) -> None:
    questions, plain, run = ask_for(tmp_path, QUESTIONS), tmp_path / "plain", tmp_path / "run"
    assert generated(upstream, questions, plain, "m", n=N).code == 0
    assert generated(upstream, questions, run, "m", *ENGINE, "--parts", PARTS, n=N).code == 0
    words = ("--verifier", "qwen-prm", "--model", model)
    assert steelyard("score", plain, *words, "--upstream", url(first)).code == 0
    assert steelyard("score", plain, *words, "--local", "--as", "here").code == 0
    before = first.asked()
    second = Server(model, flags)
    both = ("--upstream", f"{url(first)},{url(second)}", *ENGINE)
    with second:
        killing = threading.Thread(target=_killed, args=(second, ALL // PARTS * 5 // 4))
        killing.start()
        done = steelyard("score", run, *words, *both)
        killing.join()
    assert done.code == 2, done
    assert f"of {PARTS} parts of {run} could not be done (part-" in done.err
    assert f"127.0.0.1:{second.port}" in done.err
    asked = first.asked() - before + second.asked()
    with Server(model, flags, second.port):
        again = steelyard("score", run, *words, *both)
        assert again.code == 0, again.err
    total = first.asked() - before + second.asked()  # its log goes on
    assert ALL < total <= ALL + 2 * PARTS + MOST  # each part begins with a request that asks for nothing
    assert steps(run) == pytest.approx(steps(plain), abs=1e-4)
    far = max(abs(a - b) for a, b in zip(steps(run), steps(plain, "here"), strict=True))
    print(f"{ENGINE[1]}: {ALL} responses in {PARTS} parts, {asked} requests until one of two servers was dead, {total}")
    print(f"in all; largest difference from --local {far:.1e}; {without_progress(done.err).replace(str(run), 'RUN')}")
    assert far < 1e-4
