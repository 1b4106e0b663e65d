"""The embedded LLM starts beside the other work of the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

import steelyard as sy
from steelyard.sampling.ask.ask import AskResult
from steelyard.sampling.llm.address import Address
from tests.upstreams import FaultUpstream
from tests.waiting import PATIENCE


class Slow:
    """Stands for the embedded LLM: it starts when it is told to; the server it opens is another."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.did: list[str] = []
        self.go = threading.Event()

    async def begun(self) -> None:
        """Wait until it is about to start."""
        while not self.did:
            await asyncio.sleep(0.001)

    @contextmanager
    def serve(self, upstream: str, key_env: str) -> Iterator[Address]:
        self.did.append(f"{upstream} {key_env} starts")
        self.go.wait(PATIENCE)
        self.did.append("started")
        try:
            yield Address(f"{self.url}/v1")
        finally:
            self.did.append("stopped")


def test_other_work_goes_on_while_it_starts(upstream: FaultUpstream) -> None:
    slow = Slow(upstream.url)

    async def both() -> tuple[AskResult, bool]:
        asking = asyncio.ensure_future(sy.aask("How many?", upstream="local", n=2, key_env="KEY", serve=slow.serve))
        await slow.begun()
        await asyncio.sleep(0)
        waits = "started" not in slow.did  # a start on the loop itself would be over before anything else has its turn
        slow.go.set()
        return await asking, waits

    asked, waits = asyncio.run(both())
    assert waits
    assert len(asked.draws) == 2
    assert slow.did == ["local KEY starts", "started", "stopped"]


@pytest.mark.parametrize("times", [1, 2])
def test_a_job_cancelled_while_it_starts_stops_it_and_asks_nothing(upstream: FaultUpstream, times: int) -> None:
    slow = Slow(upstream.url)
    before = len(upstream.entries())

    async def impatient() -> None:
        asking = asyncio.ensure_future(sy.aask("How many?", upstream="local", n=2, key_env="KEY", serve=slow.serve))
        await slow.begun()
        for _ in range(times):
            asking.cancel()
            await asyncio.sleep(0)
        slow.go.set()
        with suppress(asyncio.CancelledError):
            await asking
        assert asking.cancelled()

    asyncio.run(impatient())
    assert slow.did == ["local KEY starts", "started", "stopped"]
    assert len(upstream.entries()) == before


def test_an_error_at_its_start_is_the_error_of_the_job() -> None:
    @contextmanager
    def broken(upstream: str, key_env: str) -> Iterator[Address]:
        if upstream == "local":
            raise sy.UpstreamError(f"it did not start with {key_env}")
        yield Address("http://127.0.0.1:1/v1")

    with pytest.raises(sy.UpstreamError, match="it did not start with KEY"):
        sy.ask("How many?", upstream="local", key_env="KEY", serve=broken)
