"""An upstream as the gateway asks it: one client, one pace and what it was found to do, for all requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from steelyard.errors import UpstreamError
from steelyard.gateway.most_choices import MostChoices
from steelyard.llm.client import Client
from steelyard.llm.faults import BusyError, LateError, SpentError, TooLargeError
from steelyard.llm.pace import Pace
from steelyard.llm.probe import probe
from steelyard.llm.retry import persistently
from steelyard.runs.parameters import Abilities, Sampling

PATIENCE = 10.0  # seconds that a probe may take
OF_EMBEDDED = 120.0  # of the embedded LLM, which shares a laptop with everything else
RETRIES = 2
TICK = 0.05  # seconds
AGAIN = 1.0  # seconds until a probe that failed is made again

Result = TypeVar("Result")


class PutOffError(BusyError):
    """The upstream asks for more time than there is."""


FINAL = (PutOffError, TooLargeError)  # the same request again would only cost the same again


class Source:
    """One upstream; empty name: the only one. `problem` says why its probe failed."""

    def __init__(self, name: str, model: str, client: Client, *, n: int, most: int, patience: float = PATIENCE) -> None:
        self.name, self.model, self.client, self.patience = name, model, client, patience
        self.pace = Pace(most, start=most)
        self.abilities: Abilities | None = None
        self.most_choices = MostChoices()
        self.problem: str | None = None
        self.put_off = "HTTP 429"  # what the upstream said when it last asked to be left alone
        self._sampling = Sampling(model, n)
        self._probing: asyncio.Task[None] | None = None
        self._failed = -AGAIN

    async def able(self) -> Abilities:
        """What the upstream can do, probed once. One that cannot be probed is asked for the least: it says why not."""
        if self.abilities is None:
            await self.probed()
        found = self.abilities or Abilities(most=1, logprobs=False)
        most = self.most_choices.of(found.most)
        return found if most == found.most else replace(found, most=most)

    async def probed(self) -> bool:
        """Probe the upstream unless that was done; whoever wants to know waits for the same probe."""
        if self.abilities is None and time.monotonic() - self._failed >= AGAIN:
            if self._probing is None or self._probing.done():
                self._probing = asyncio.create_task(self._probe())
            await asyncio.shield(self._probing)
        return self.abilities is not None

    async def send(self, send: Callable[[], Awaitable[Result]], *, tries: int, until: float) -> Result:
        """Send a request in its turn and again where that may help, 1 + RETRIES times in all; `tries` if it fails.

        An upstream that asks to be left alone for longer than there is time for is not waited for: whoever asks is
        told at once when to come back.
        """
        self._check_gate(self.pace.closed_for, until)

        async def once() -> Result:
            try:
                return await send()
            except BusyError as error:
                self._check_gate(error.wait or 0.0, until, error.reason)
                raise
            except LateError as error:
                if until - time.monotonic() > TICK:
                    raise
                reason = error.reason
            raise SpentError(reason)  # a client's own deadline says nothing about the upstream, and slows nobody down

        most = 1 + RETRIES
        return await persistently(self.pace, once, tries=tries, most=most, until=until, final=FINAL)

    def _check_gate(self, wait: float, until: float, reason: str = "") -> None:
        if wait > until - time.monotonic():
            self.put_off = reason or self.put_off
            raise PutOffError(self.put_off, wait)

    async def close(self) -> None:
        """End a probe that is under way."""
        if self._probing and not self._probing.done():
            self._probing.cancel()
            await asyncio.gather(self._probing, return_exceptions=True)

    async def _probe(self) -> None:
        try:
            self.abilities = await probe(self.client, self._sampling, patience=self.patience)
            self.problem = None
        except UpstreamError as error:
            self.problem, self._failed = str(error), time.monotonic()
