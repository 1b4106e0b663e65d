"""The gateway beside others that vote on several samples: `python -m benchmarks.gateway_peers`.

    python -m benchmarks.gateway_peers [--its-hub PATH/its-iaas] [--optillm PATH/optillm] [--clients 10] [--each 10]

Each serves the same upstream, which takes 200 ms, with eight samples per request, one server after the other: by `n` of
the upstream where the server knows that, else by eight calls. One that is not installed is left out; give it an
environment of its own: `pip install its_hub[iaas]`, `pip install optillm`. The figures go to docs/gateway_peers.json,
and from there onto docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from benchmarks.clients import Tally, load
from benchmarks.gateway import ROOT, Served, served
from benchmarks.gateway_page import PEERS, store

N, DELAY, TURNS = 8, 0.2, 5
PATIENCE = 180.0  # seconds until a server listens
BOXED = r"\\boxed\{(.*?)\}"
STEELYARD = "Steelyard"


class NotStartedError(Exception):
    """A server that does not come up."""


@contextmanager
def its_hub(program: str, upstream: str, model: str) -> Iterator[Served]:
    """Its server, which is told over HTTP to vote on what stands in a box."""
    with _listening([program, "--port"]) as server:
        told = {"endpoint": upstream, "api_key": "none", "model": model, "alg": "self-consistency", "budget": N}
        _send(server.port, "/configure", told | {"regex_patterns": [BOXED]})
        yield server


@contextmanager
def optillm(program: str, upstream: str, _: str) -> Iterator[Served]:
    """Its server with the approach that votes on eight samples; a key is what makes it ask the upstream itself."""
    words = ["--approach", "majority_voting", "--base-url", upstream, "--port"]
    with _listening([program, *words], OPENAI_API_KEY="none") as server:
        yield server


Peer = Callable[[str, str, str], AbstractContextManager[Served]]


@contextmanager
def _listening(command: list[str], **variables: str) -> Iterator[Served]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*command, str(port)], env={**os.environ, **variables}, **quiet)
    try:
        until = time.monotonic() + PATIENCE
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > until:
                raise NotStartedError(f"{command[0]} does not listen within {PATIENCE:g} s")
            time.sleep(0.2)
        yield Served(port, 0, process.pid)
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def _send(port: int, path: str, body: dict[str, Any]) -> None:
    content, kind = json.dumps(body).encode(), {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", content, kind), timeout=60)


@contextmanager
def upstream() -> Iterator[int]:
    """The port of an upstream that takes a while."""
    line = [sys.executable, "-m", "benchmarks.plain_upstream", str(DELAY)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout
            yield int(process.stdout.readline())
        finally:
            process.kill()


def given(port: int) -> int:
    """How many choices an upstream has given so far."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=60) as reply:
        return int(json.load(reply)["choices_given"])


def measured(name: str, peer: Peer | None, program: str, clients: int, each: int) -> dict[str, Any]:
    """One server: its time against the upstream's own, CPU and memory, and what is lost, also where samples fail.

    Without a peer it is ours.
    """
    how: dict[str, Any] = {"clients": clients, "spread": DELAY}
    lost, row, samples, asked_in_all = {}, dict[str, Any](), 0, TURNS * clients * each
    for model in ("plain", "eighth"):
        with ExitStack() as stack:
            port = stack.enter_context(upstream())
            asked = model
            if peer is None:
                server = stack.enter_context(served(DELAY, "--method", "majority", model=model))
                asked, port = "steelyard/majority", server.direct
            else:
                server = stack.enter_context(peer(program, f"http://127.0.0.1:{port}/v1", model))
            asyncio.run(load(server.port, asked, **how, each=1))
            ratios, tallies, used, samples = [], list[Tally](), 0.0, 0
            for _ in range(TURNS):
                bare = asyncio.run(load(port, "plain", **how, each=each))
                before, given_before = server.cpu, given(port)
                tallies.append(asyncio.run(load(server.port, asked, **how, each=each)))
                used += server.cpu - before
                samples += given(port) - given_before
                ratios.append(tallies[-1].percentile(0.5) / bare.percentile(0.5))
            lost[model] = sum(tally.lost for tally in tallies)
            if model == "plain":
                row = {
                    "name": name, "asked": asked_in_all, "p50": statistics.median(ratios),
                    "cpu_ms": 1000 * used / asked_in_all, "memory": server.memory("VmHWM"),
                    "mixed_up": sum(tally.mixed_up for tally in tallies),
                }  # fmt: skip
    failing = {"lost_of_failing": lost["eighth"], "samples_of_failing": samples / asked_in_all}
    return {**row, "lost": lost["plain"], **failing}


def main() -> None:
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--its-hub", default="its-iaas")
    told.add_argument("--optillm", default="optillm")
    told.add_argument("--clients", type=int, default=10)
    told.add_argument("--each", type=int, default=10)
    words = told.parse_args()
    before, rows = os.getloadavg()[0], []
    peers: tuple[tuple[str, Peer, str], ...] = (
        ("its_hub", its_hub, words.its_hub),
        ("optillm", optillm, words.optillm),
    )
    for name, peer, program in ((STEELYARD, None, ""), *peers):
        if peer and not shutil.which(program):
            print(f"{name} is left out: there is no program {program}")
            continue
        try:
            rows.append(measured(name, peer, program, words.clients, words.each))
            print(json.dumps(rows[-1]), flush=True)
        except NotStartedError as error:
            print(f"{name} is left out: {error}")
    store(PEERS, {"load": round(before, 1), "clients": words.clients, "each": words.each, "rows": rows})


if __name__ == "__main__":
    main()
