"""The gateway against its upstream, in turns: `python -m benchmarks.gateway` stores what docs/benchmarks.md shows.

    python -m benchmarks.gateway [--minutes 10] [--rounds 5] [--quick] [--only latency,cpu,first-token,leak,slow,held]

Server, upstream and clients are three processes of one machine. If that is busy before the start, nothing is stored:
times of such a run mean nothing. The rows go to docs/gateway_load.json, and from there onto the page (gateway_page.py).
It takes about 15 minutes, ten of which both kinds of requests are held in flight.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.clients import Tally, load
from benchmarks.gateway_page import LOAD, store
from benchmarks.measuring import Row, at_most

ROOT = Path(__file__).parent.parent
TICK = os.sysconf("SC_CLK_TCK")
BARE_CALL = 160  # microseconds of CPU of a call by a bare client, on the machine that the goals were set on
BUSY = 1.0  # load before the start, above which nothing is written
VOTE = "steelyard/vote"
VERIFIED = ("--verifier", "p-true")
ONE: dict[str, Any] = {"steelyard": {"n": 1}}


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    rounds: int = 5
    each: int = 20  # requests of every client per round
    requests: int = 3000  # of which the CPU is measured
    leak: int = 10_000  # requests before the memory is looked at; twice as many follow
    minutes: float = 10.0
    slow: int = 1000  # connections that never finish a request
    held: tuple[int, int] = (1000, 256)  # in flight with one sample, and with eight


@dataclass(frozen=True)
class Served:
    """A running gateway and its upstream."""

    port: int
    direct: int
    pid: int

    @property
    def cpu(self) -> float:
        """Seconds of CPU that the server has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory(self, name: str = "VmRSS") -> float:
        """MB that the server holds, or has held at most (VmHWM)."""
        found = re.search(rf"{name}:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())
        return int(found[1]) / 1024 if found else 0.0

    @property
    def files(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))


@contextmanager
def served(delay: float, *words: str, model: str = "plain") -> Iterator[Served]:
    """A gateway before an upstream that takes so many seconds."""
    environment = {name: value for name, value in os.environ.items() if name != "STEELYARD_KEY"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), environment.get("PYTHONPATH", "")])
    behind = [sys.executable, "-m", "benchmarks.plain_upstream", str(delay)]
    upstream = subprocess.Popen(behind, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    running: subprocess.Popen[str] | None = None
    try:
        assert upstream.stdout
        direct = int(upstream.stdout.readline())
        line = [sys.executable, "-m", "steelyard", "serve", "--upstream", f"http://127.0.0.1:{direct}/v1"]
        line += ["--model", model, "--port", "0", "--cap", "in-flight=4096", *words]
        # The access log is written, as it is by default, where nobody has to read it.
        running = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        assert running.stdout
        port = int(running.stdout.readline().rpartition(":")[2].removesuffix("/v1\n"))
        yield Served(port, direct, running.pid)
    finally:
        for process in (running, upstream):
            if process:
                process.kill()
                process.wait()
                if process.stdout:
                    process.stdout.close()


@contextmanager
def bare_client(port: int) -> Iterator[Callable[[], float]]:
    """Measures the microseconds of CPU that one call takes of a bare client, in a process of its own."""
    line = [sys.executable, "-m", "benchmarks.bare_client", str(port)]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as client:
        assert client.stdin
        assert client.stdout
        stdin, stdout = client.stdin, client.stdout

        def measure() -> float:
            stdin.write("\n")
            stdin.flush()
            return float(stdout.readline())

        yield measure


def ask(port: int, model: str, **how: Any) -> Tally:
    return asyncio.run(load(port, model, **how))


def sound(*tallies: Tally) -> None:
    """A figure over requests that were lost would be none."""
    lost, mixed = sum(each.lost for each in tallies), sum(each.mixed_up for each in tallies)
    if lost or mixed:
        raise AssertionError(f"{lost} requests were lost and {mixed} mixed up")


def latency(sizes: Sizes) -> Iterator[Row]:
    """L1 and L2: in turns, direct and through the gateway."""
    kinds: list[tuple[str, int, str, dict[str, Any]]] = [
        ("one sample, voted on", 100, VOTE, ONE),
        ("one sample, voted on", 50, VOTE, ONE),
        ("passed through", 100, "plain", {}),
    ]
    with served(0.2) as server:
        for name, count, model, more in kinds:
            clients: dict[str, Any] = {"clients": count, "each": max(1, sizes.each // 4), "spread": 0.2}
            ask(server.port, model, clients=count, each=1, **more)
            pairs = []
            for _ in range(sizes.rounds):
                pairs.append((ask(server.direct, "plain", **clients), ask(server.port, model, **clients, **more)))
                sound(*pairs[-1])
            for share, goal in ((0.5, 1.03), (0.99, 1.15)):
                ratio = statistics.median(mine.percentile(share) / bare.percentile(share) for bare, mine in pairs)
                mine = statistics.median(mine.percentile(share) for _, mine in pairs)
                what = f"200 ms upstream, {count} clients, {name}: p{100 * share:.0f} against the upstream itself"
                yield at_most(what, ratio, goal, f"{1000 * mine:.0f} ms")
    with served(0.0) as server:
        ask(server.port, VOTE, clients=1, each=50, **ONE)
        pairs = []
        for _ in range(sizes.rounds):
            one: dict[str, Any] = {"clients": 1, "each": 10 * sizes.each}
            pairs.append((ask(server.direct, "plain", **one), ask(server.port, VOTE, **one, **ONE)))
            sound(*pairs[-1])
        for share, goal in ((0.5, 2.0), (0.99, 10.0)):
            added = 1000 * statistics.median(mine.percentile(share) - bare.percentile(share) for bare, mine in pairs)
            what = f"0 ms upstream, 1 client, one sample: time that the gateway adds, p{100 * share:.0f}"
            yield Row(what, f"{added:.2f} ms", f"at most {goal:g} ms", added <= goal)


def cpu(sizes: Sizes) -> Iterator[Row]:
    """L3 and L4: what the server itself uses per request."""
    eight = {"steelyard": {"n": 8}}
    kinds: list[tuple[str, float, float | None, str, dict[str, Any], tuple[str, ...]]] = [
        ("one sample, voted on", 1.6, 600, "plain", ONE, ()),
        ("8 samples in one call, and the vote", 2.0, None, "plain", eight, ("--method", "majority")),
        ("8 samples in 8 calls, their own log-probabilities, and the vote", 4.5, 100, "single", eight, ()),
        ("8 samples in 8 calls, 8 calls of a verifier, and the vote", 8.5, None, "single", eight, VERIFIED),
        ("passed through", 1.2, None, "plain", {}, ()),
    ]
    for name, goal, rate, model, more, words in kinds:
        with served(0.0, *words, model=model) as server:
            vote = "plain" if not more else "steelyard/majority" if "--method" in words else VOTE
            ask(server.port, vote, clients=8, each=20, **more)
            figures, calls = [], []
            with bare_client(server.direct) as bare_call:
                for _ in range(sizes.rounds):
                    before, each = server.cpu, max(1, sizes.requests // sizes.rounds // 8)
                    sound(ask(server.port, vote, clients=8, each=each, **more))
                    figures.append(1000 * (server.cpu - before) / (8 * each))
                    calls.append(bare_call())
        used = statistics.median(figures)
        yield Row(f"CPU of the gateway per request: {name}", f"{used:.2f} ms", f"at most {goal:g} ms", used <= goal)
        if more is eight and model == "single":
            ratio = statistics.median(1000 * mine / call for mine, call in zip(figures, calls, strict=True))
            what = f"CPU of the gateway against that of a call by a bare aiohttp client: {name}"
            yield at_most(what, ratio, 1000 * goal / BARE_CALL, f"{statistics.median(calls):.0f} us a call")
        if rate:
            what = f"requests per second of the gateway's CPU: {name}"
            yield Row(what, f"{1000 / used:,.0f}", f"at least {rate:g}", 1000 / used >= rate)


def first_token(sizes: Sizes) -> Iterator[Row]:
    """L8: when the first token of a stream comes that is passed through."""
    how: dict[str, Any] = {"clients": 20, "each": sizes.each, "spread": 0.2, "stream": True}
    with served(0.2) as server:
        ask(server.port, "plain", clients=20, each=1, stream=True)
        turns = range(sizes.rounds)
        pairs = [(ask(server.direct, "plain", **how), ask(server.port, "plain", **how)) for _ in turns]
        ratio = statistics.median(mine.first_percentile(0.5) / bare.first_percentile(0.5) for bare, mine in pairs)
        mine = statistics.median(mine.first_percentile(0.5) for _, mine in pairs)
    yield at_most("passed through, 20 clients: time to the first token, p50", ratio, 1.05, f"{1000 * mine:.0f} ms")


def leak(sizes: Sizes) -> Iterator[Row]:
    """L6: what stays when the requests are gone."""
    with served(0.0) as server:
        ask(server.port, VOTE, clients=16, each=sizes.leak // 16, **ONE)
        time.sleep(1)
        before, files = server.memory(), server.files
        sound(ask(server.port, VOTE, clients=16, each=2 * sizes.leak // 16, **ONE))
        time.sleep(1)
        grown, more = server.memory() - before, server.files - files
    what = f"memory from request {sizes.leak:,} to {3 * sizes.leak:,}"
    yield Row(what, f"{grown:+.1f} MB, {more:+d} open files", "at most +10 MB, +2", grown <= 10 and more <= 2)


def held(sizes: Sizes) -> Iterator[Row]:
    """L5: many requests in flight for long, both kinds at the same time, each reply with the nonce of its request."""
    with served(2.0) as alone, served(2.0, model="single") as fanned:
        kinds: list[tuple[Served, int, dict[str, Any], str]] = [
            (alone, sizes.held[0], ONE, "one sample"),
            (fanned, sizes.held[1], {"steelyard": {"n": 8}}, "8 samples in 8 calls"),
        ]
        idle = [server.memory() for server, *_ in kinds]

        async def both() -> list[Tally]:
            long: dict[str, Any] = {"seconds": 60 * sizes.minutes, "spread": 2.0}
            loads = [load(server.port, VOTE, clients=clients, **long, **more) for server, clients, more, _ in kinds]
            return await asyncio.gather(*loads)

        tallies = asyncio.run(both())
        peaks = [server.memory("VmHWM") for server, *_ in kinds]
    for (_, clients, _, name), before, tally, peak in zip(kinds, idle, tallies, peaks, strict=True):
        asked = len(tally.whole)
        what = f"{clients:,} requests in flight for {sizes.minutes:g} min, {name}"
        figure = f"{asked:,} answered, {tally.lost} lost, {tally.mixed_up} mixed up, {peak:.0f} MB (idle {before:.0f})"
        met = asked > 0 and not tally.lost and not tally.mixed_up and peak <= 200
        yield Row(what, figure, "0 lost, 0 mixed up, at most 200 MB", met)


@contextmanager
def slow_clients(port: int, count: int) -> Iterator[None]:
    """Clients that never finish a request, in a process of their own."""
    line = [sys.executable, "-m", "benchmarks.slow_clients", str(port), str(count)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=ROOT) as clients:
        assert clients.stdout
        clients.stdout.readline()
        try:
            yield
        finally:
            clients.kill()


def slow(sizes: Sizes) -> Iterator[Row]:
    """F6: requests of others while a thousand connections send their heads byte by byte."""
    clients: dict[str, Any] = {"clients": 10, "each": 2 * sizes.each, "spread": 0.05}
    with served(0.05) as server:
        ask(server.port, VOTE, clients=10, each=5, **ONE)
        pairs = []
        for _ in range(sizes.rounds):
            alone = ask(server.port, VOTE, **clients, **ONE)
            with slow_clients(server.port, sizes.slow):
                pairs.append((alone, ask(server.port, VOTE, **clients, **ONE)))
            sound(*pairs[-1])
    ratio = statistics.median(beside.percentile(0.99) / alone.percentile(0.99) for alone, beside in pairs)
    with_them = statistics.median(beside.percentile(0.99) for _, beside in pairs)
    what = f"{sizes.slow:,} connections that send a byte per second: p99 of 10 other clients, against p99 without them"
    yield at_most(what, ratio, 2.0, f"{1000 * with_them:.0f} ms")


PARTS = {"latency": latency, "cpu": cpu, "first-token": first_token, "leak": leak, "slow": slow, "held": held}


def main() -> int:
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--minutes", type=float, default=10.0, help="that requests are held in flight, of each kind")
    told.add_argument("--rounds", type=int, default=5)
    told.add_argument("--quick", action="store_true", help="a small run that shows that it works")
    told.add_argument("--only", default=",".join(PARTS))
    given = told.parse_args()
    sizes = Sizes(rounds=given.rounds, minutes=given.minutes)
    if given.quick:
        sizes = Sizes(rounds=2, each=8, requests=480, leak=320, slow=100, minutes=0.1, held=(100, 16))
    before = os.getloadavg()[0]
    rows = []
    for part in given.only.split(","):
        for row in PARTS[part](sizes):
            print(f"{'ok  ' if row.met else 'MISS'} {row.what}: {row.figure}, goal {row.goal}", flush=True)
            rows.append(row)
    print(f"load before {before:.1f}, after {os.getloadavg()[0]:.1f}")
    if given.quick or set(given.only.split(",")) != set(PARTS):
        return 0
    if before > BUSY:
        print(f"the load was {before:.1f} before the start, so nothing is stored: run it on a quiet machine")
        return 1
    store(LOAD, {"load": round(before, 1), "rows": [vars(row) for row in rows]})
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
