"""Every fault of an upstream, on one sample and on all: the client gets one of a few ends, and the ledger adds up.

The ledger is the oracle: as many ends as requests, every request of the upstream answered or cancelled, and never more
of them than n * 3. A few rows are run each time. All are long: every fault for votes by `n` and by fan-out, with
1 and with 8 samples, as a stream and whole, where each fault meets each of these once and not every product of them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from steelyard.gateway.caps import Caps
from steelyard.gateway.upstream.source import RETRIES
from tests.gateway.gateways import VOTE, gateway
from tests.gateway.outcomes import asked, attempts, settled
from tests.upstreams import FaultUpstream
from tests.waiting import with_more_time

ALL = {
    "400": 400, "401": 401, "403": 403, "404": 404, "422": 422, "429": 429, "429@1": 429, "quota": 429,
    "500": 502, "502": 502, "503": 503, "503@1": 503, "529": 503, "302": 502, "redirect": 502, "408": 502,
    "reset": 502, "cut@40": 502, "chunk-cut": 502, "bad-chunk": 502, "no-http": 502, "silent": 504, "slow@1": 504,
    "garbage": 502, "html": 502, "empty": 502, "null": 502, "list": 502, "string": 502, "error": 502,
    "error-string": 502, "detail": 502, "choices-null": 502, "choices-empty": 502, "choices-object": 502,
    "choices-of-text": 502, "deep": 502, "digits": 502, "crowd": 502, "echo-error": 502, "echo-elsewhere@top": 502,
}  # fmt: skip
FIRST = [
    "message-null", "content-null", "content-number", "content-parts", "content-empty", "surrogate", "index-text",
    "index-far", "fewer", "more", "same-index", "backwards", "no-usage", "no-logprobs", "finish-number", "length",
    "numbers", "trailing", "unicode", "same-id", "echo", "echo-escaped", "echo-elsewhere@reasoning", "same", "rich",
]  # fmt: skip # what is wrong with one choice only, or with none
PARTS = ("drawn", "uncounted", "failed", "cancelled")
SLOW = {"silent", "slow@1"}
QUICK = ["401", "html", "echo", "fewer"]


def run(upstream: FaultUpstream, fault: str, n: int, stream: bool, how: str) -> None:
    """The fault on all samples, and on the one of seed 2."""
    for one in (False, True) if n > 2 else (False,):
        if fault in SLOW:
            with_more_time(partial(cell, upstream, fault, n, stream, how, one), 1.5)
        else:
            cell(upstream, fault, n, stream, how, one, 600.0)


def cell(upstream: FaultUpstream, fault: str, n: int, stream: bool, how: str, one: bool, seconds: float) -> None:
    """One cell: a request that is voted on, and one that is passed through."""
    model = f"fault:{fault}{'#2' if one else ''}?now{'&no-n' if how == 'fan-out' else ''}"
    prompt = f"now {fault} {n} {stream} {how} {one} {seconds}"
    ours: dict[str, Any] = {"steelyard": {"n": n, "deadline_s": seconds}}
    with gateway(upstream.url, model=model, n=8, caps=Caps(deadline=seconds)) as running:
        assert running.send("GET", "/readyz").status == 200
        end = asked(running, prompt, model=VOTE, stream=stream, seed=0, logprobs=True, **ours)
        passed = asked(running, f"{prompt} passed", model=model, stream=stream, seed=2)
    tries = attempts(upstream, prompt)
    assert 0 < tries <= n * (1 + RETRIES)
    assert attempts(upstream, f"{prompt} passed") <= 1 + RETRIES
    settled(upstream)
    if one and how == "fan-out" and fault not in SLOW:
        assert end.end == "whole"
    if one and how == "n" and ALL.get(fault) not in (401, 403, 404, 429, 503, 504) and fault not in ("302", "redirect"):
        assert end.end == "whole"
    if fault in ALL and not one:
        assert (end.end, end.status) == ("error", ALL[fault])
        assert passed.end == "broken" or (passed.end, passed.status) == ("error", ALL[fault])
    if end.end == "whole" and not stream:
        told = end.content["steelyard"]["samples"]
        assert sum(told[part] for part in PARTS) == told["wanted"] == n
        assert told["requests"] == tries


@pytest.mark.parametrize("fault", QUICK)
@pytest.mark.usefixtures("short_pauses")
def test_a_fault_has_one_of_the_ends_that_clients_can_read(upstream: FaultUpstream, fault: str) -> None:
    run(upstream, fault, 8, fault == "html", "n" if fault == "fewer" else "fan-out")


CELLS = [
    cell
    for i, fault in enumerate([*ALL, *FIRST])
    for cell in ((fault, 8, i % 2 == 0, "n"), (fault, 8, i % 2 == 1, "fan-out"), (fault, 1, i % 4 < 2, "n"))
]


@pytest.mark.long
@pytest.mark.parametrize(("fault", "n", "stream", "how"), CELLS)
@pytest.mark.usefixtures("short_pauses")
def test_every_fault_has_one_of_the_ends_that_clients_can_read(
    upstream: FaultUpstream, fault: str, n: int, stream: bool, how: str
) -> None:
    run(upstream, fault, n, stream, how)
