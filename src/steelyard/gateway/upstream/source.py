"""An upstream as the gateway asks it: one client, one pace and what it was found to do, for all requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from steelyard.foundation.errors import UpstreamError
from steelyard.gateway.limits.limit_names import other_name
from steelyard.gateway.limits.token_limit import ModelLimit, TokenLimit, refused_limit
from steelyard.gateway.messages.api_errors import LONGEST_PAUSE
from steelyard.gateway.messages.most_choices import MostChoices, names_n
from steelyard.gateway.messages.secrets_filter import Secrets
from steelyard.runs.parameters import Abilities, Sampling
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import (
    BusyError,
    LateError,
    PutOffError,
    RefusedError,
    SpentError,
    TooLargeError,
    TryError,
)
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.llm.probe import probe
from steelyard.sampling.llm.retry import persistently

PATIENCE = 10.0  # seconds that a probe may take
OF_EMBEDDED = 120.0  # of the embedded LLM, which shares a laptop with everything else
RETRIES = 2
TICK = 0.05  # seconds
AGAIN = 1.0  # seconds until a probe that failed is made again
DOUBTED = 60.0  # seconds between two probes that replies give rise to

Result = TypeVar("Result")


class TooDearError(TryError):
    """Another try might cost more than the request may."""


FINAL = (TooDearError, TooLargeError)  # the same request again would only cost the same again


class Source:
    """One upstream; empty name: the only one. `problem` says why its probe failed."""

    def __init__(
        self,
        name: str,
        model: str,
        client: Client,
        *,
        n: int,
        most: int,
        patience: float = PATIENCE,
        secrets: Secrets | None = None,
    ) -> None:
        """`secrets` are the keys that no client may see, also those of other servers."""
        self.name, self.model, self.client, self.patience = name, model, client, patience
        self.secrets = secrets or Secrets(client.address.key if client else None)
        self.pace = Pace(most, start=most, longest=LONGEST_PAUSE)
        self.abilities: Abilities | None = None
        self.most_choices = MostChoices()
        self.token_limit = TokenLimit()
        self.problem: str | None = None
        self.put_off = "HTTP 429"  # what the upstream said when it last asked to be left alone
        self._limit_name: str | None = None  # of a limit on tokens, where a refusal has told it
        self._sampling = Sampling(model, n)
        self._probing: asyncio.Task[None] | None = None
        self._counting: asyncio.Task[None] | None = None  # a probe of how many choices it gives
        self._doubted = -DOUBTED
        self._failed = -AGAIN

    async def able(self) -> Abilities:
        """What the upstream can do, probed once. One that cannot be probed is asked for the least: it says why not."""
        if self.abilities is None:
            await self.probed()
        found = self.abilities or Abilities(most=1, logprobs=False)
        most, name = self.most_choices.of(found.most), self._limit_name or found.limit_name
        return found if (most, name) == (found.most, found.limit_name) else replace(found, most=most, limit_name=name)

    async def probed(self) -> bool:
        """Probe the upstream unless that was done; whoever wants to know waits for the same probe."""
        if self.abilities is None and time.monotonic() - self._failed >= AGAIN:
            if self._probing is None or self._probing.done():
                self._probing = asyncio.create_task(self._probe())
            await asyncio.shield(self._probing)
        return self.abilities is not None

    async def send(self, send: Callable[[], Awaitable[Result]], *, tries: int, until: float) -> Result:
        """Send a request in its turn and again where that may help, 1 + RETRIES times in all; `tries` if it fails.

        An upstream that asks to be left alone for longer than there is time for is not waited for: the client is told
        at once when to come back, in LONGEST_PAUSE seconds at most, when one request is sent to see whether it works.
        """
        if self.pace.asked_for > max(0.0, until - time.monotonic()):
            raise PutOffError(self.put_off, self.pace.closed_for)

        async def once() -> Result:
            try:
                return await send()
            except BusyError as error:
                self.put_off = error.reason
                if (error.wait or 0.0) > max(0.0, until - time.monotonic()):
                    raise PutOffError(error.reason, error.wait) from None
                raise
            except LateError as error:
                if until - time.monotonic() > TICK:
                    raise
                reason = error.reason
            raise SpentError(reason)  # a client's own deadline says nothing about the upstream, and slows nobody down

        most = 1 + RETRIES
        try:
            return await persistently(self.pace, once, tries=tries, most=most, until=until, final=FINAL)
        except PutOffError as error:  # also of a request that waited for others
            raise PutOffError(self.put_off, error.wait) from None

    async def limited(self, tokens: int, prompt_bytes: int, send: Callable[[str, int], Awaitable[Result]]) -> Result:
        """Send a request with a limit on tokens that the client did not set, as the upstream's model accepts it.

        A refusal that names a lower limit, or the other name of the field, is followed once each, and remembered when
        that works.
        """
        name, most = (await self.able()).limit_name, self.token_limit.lowered(tokens, prompt_bytes)
        renamed, limit = False, None
        while True:
            try:
                result = await send(name, most)
            except RefusedError as error:
                named, other = refused_limit(most, error), other_name(name, error.reason)
                if limit is None and named:
                    limit, most = named, named.accepted
                elif not renamed and other:
                    renamed, name = True, other
                else:
                    raise
            else:
                self._remember(name if renamed else None, limit)
                return result

    def _remember(self, name: str | None, limit: ModelLimit | None) -> None:
        self._limit_name = name or self._limit_name
        if limit:
            self.token_limit.learn(limit)

    @property
    def paused(self) -> bool:
        """Whether requests are refused, since the upstream has asked for more time than it is given."""
        return self.pace.asked_for > LONGEST_PAUSE

    def refused_choices(self, reason: str) -> None:
        """Note that a request was refused which was good for one choice: where it is about `n`, the probe decides."""
        if names_n(reason):
            self.doubt_choices()

    def doubt_choices(self) -> None:
        """Note that fewer choices came than one request asked for, or none: probe how many there are."""
        if time.monotonic() - self._doubted >= DOUBTED:
            self._doubted = time.monotonic()
            self._counting = asyncio.create_task(self._count_choices())

    async def close(self) -> None:
        """End a probe that is under way."""
        tasks = [task for task in (self._probing, self._counting) if task and not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _count_choices(self) -> None:
        with suppress(UpstreamError):
            found = await probe(self.client, self._sampling, patience=self.patience)
            self.most_choices.found(found.most)

    async def _probe(self) -> None:
        try:
            self.abilities = await probe(self.client, self._sampling, patience=self.patience)
            self.problem = None
        except UpstreamError as error:
            self.problem, self._failed = str(error), time.monotonic()
