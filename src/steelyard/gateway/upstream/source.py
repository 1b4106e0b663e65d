"""An upstream server: one client, one pace and the probed abilities, shared by all requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from steelyard.foundation.errors import UpstreamError
from steelyard.gateway.messages.api_errors import LONGEST_PAUSE
from steelyard.gateway.messages.secrets_filter import Secrets
from steelyard.gateway.upstream.upstream_limits import (
    ChoiceLimit,
    TokenLimit,
    names_n,
    other_name,
    refused_limit,
)
from steelyard.runs.parameters import Abilities, Sampling
from steelyard.sampling.interrupts import cancel_and_wait
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
EMBEDDED_PATIENCE = 120.0  # for the embedded LLM, which shares the machine with other programs
RETRIES = 2
TICK = 0.05  # seconds
AGAIN = 1.0  # seconds until a probe that failed is made again
DOUBTED = 60.0  # seconds between two probes that replies give rise to

Result = TypeVar("Result")


class OverBudgetError(TryError):
    """A retry could exceed the cost limit of the request."""


FINAL = (OverBudgetError, TooLargeError)  # never retried: the same request would fail the same way


class Source:
    """One upstream; the name is empty if it is the only one. `problem` says why its probe failed."""

    def __init__(
        self,
        name: str,
        model: str,
        client: Client,
        *,
        n: int,
        limit: int,
        patience: float = PATIENCE,
        secrets: Secrets | None = None,
    ) -> None:
        """`secrets` are the keys that no client may see, also those of other servers."""
        self.name, self.model, self.client, self.patience = name, model, client, patience
        self.secrets = secrets or Secrets(client.address.key if client else None)
        self.pace = Pace(limit, start=limit, longest=LONGEST_PAUSE)
        self.abilities: Abilities | None = None
        self.choice_limit = ChoiceLimit()
        self.token_limit = TokenLimit()
        self.problem: str | None = None
        self.put_off = "HTTP 429"  # the upstream's last request for a pause
        self._limit_name: str | None = None  # of the token limit, once a refusal has named it
        self._sampling = Sampling(model, n)
        self._probing: asyncio.Task[None] | None = None
        self._counting: asyncio.Task[None] | None = None  # a probe of how many choices it gives
        self._doubted = -DOUBTED
        self._failed = -AGAIN

    async def current_abilities(self) -> Abilities:
        """The abilities of the upstream, probed once; the minimum if the probe fails."""
        if self.abilities is None:
            await self.probed()
        abilities = self.abilities or Abilities(most=1, logprobs=False)
        most, name = self.choice_limit.current(abilities.most), self._limit_name or abilities.limit_name
        if (most, name) == (abilities.most, abilities.limit_name):
            return abilities
        return replace(abilities, most=most, limit_name=name)

    async def probed(self) -> bool:
        """Probe the upstream once; concurrent callers share one probe. Return whether it succeeded."""
        if self.abilities is None and time.monotonic() - self._failed >= AGAIN:
            if self._probing is None or self._probing.done():
                self._probing = asyncio.create_task(self._probe())
            await asyncio.shield(self._probing)
        return self.abilities is not None

    async def send(self, send: Callable[[], Awaitable[Result]], *, tries: int, until: float) -> Result:
        """Send a request at the upstream's pace, and retry failures that may be temporary.

        At most 1 + RETRIES times in all, and `tries` times if the request itself fails. If the upstream asks for a
        longer pause than there is time for, the client is told at once when to retry: after LONGEST_PAUSE seconds at
        most, when one request is sent to see whether the upstream works.
        """
        if self.pace.requested_pause > max(0.0, until - time.monotonic()):
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
            raise SpentError(reason)  # a client's own deadline must not slow down other requests

        try:
            return await persistently(self.pace, once, tries=tries, most=1 + RETRIES, until=until, final=FINAL)
        except PutOffError as error:  # also of a request that was queued
            raise PutOffError(self.put_off, error.wait) from None

    async def limited(self, tokens: int, prompt_bytes: int, send: Callable[[str, int], Awaitable[Result]]) -> Result:
        """Send a request with a token limit that the client did not set, as the upstream's model accepts it.

        If a refusal names a lower limit or the other name of the field, the request is sent again with it, once each;
        what worked is remembered.
        """
        name, max_tokens = (await self.current_abilities()).limit_name, self.token_limit.lowered(tokens, prompt_bytes)
        renamed, limit = False, None
        while True:
            try:
                result = await send(name, max_tokens)
            except RefusedError as error:
                named, other = refused_limit(max_tokens, error), other_name(name, error.reason)
                if limit is None and named:
                    limit, max_tokens = named, named.accepted
                elif not renamed and other:
                    renamed, name = True, other
                else:
                    raise
            else:
                self._limit_name = name if renamed else self._limit_name
                if limit:
                    self.token_limit.learn(limit)
                return result

    @property
    def paused(self) -> bool:
        """Whether requests are refused because the upstream asked for a longer pause than LONGEST_PAUSE."""
        return self.pace.requested_pause > LONGEST_PAUSE

    def refused_choices(self, reason: str) -> None:
        """Probe again if a refusal of several choices, which was accepted for one, mentions `n`."""
        if names_n(reason):
            self.doubt_choices()

    def doubt_choices(self) -> None:
        """Probe again how many choices the upstream gives, after a reply with fewer than requested."""
        if time.monotonic() - self._doubted >= DOUBTED:
            self._doubted = time.monotonic()
            self._counting = asyncio.create_task(self._count_choices())

    async def close(self) -> None:
        await cancel_and_wait(*(task for task in (self._probing, self._counting) if task))

    async def _count_choices(self) -> None:
        with suppress(UpstreamError):
            abilities = await probe(self.client, self._sampling, patience=self.patience)
            self.choice_limit.learn(abilities.most)

    async def _probe(self) -> None:
        try:
            self.abilities = await probe(self.client, self._sampling, patience=self.patience)
            self.problem = None
        except UpstreamError as error:
            self.problem, self._failed = str(error), time.monotonic()
