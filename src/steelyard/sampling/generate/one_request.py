"""Requests samples of a run until each is in the journal, as a sample or as a failure with its reason.

A try that fails is repeated up to `retries` times, then its samples are failures. A busy server (429, 503) does not use
up tries: all requests wait (llm/pace.py), and one sample at most BUSY times; a sample whose deadline passes meanwhile
fails. No error is referenced while another try is made: its frames hold the body that was read.

If a request for n samples is refused, one of them is requested alone: if that works, n was too large for the server,
which is remembered; if not, the question is at fault. A server that sends fewer choices than requested is remembered
too. Clocks are monotonic.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from steelyard.foundation.errors import UpstreamError
from steelyard.runs.parameters import Abilities, Sampling
from steelyard.runs.source_share import Share
from steelyard.runs.token_usage import FIELD, Usage, usage_field, usage_from_field
from steelyard.sampling.generate.generate_order import Limits
from steelyard.sampling.llm.bounded_json import Hold
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.completion_json import Reply, body_of, samples_per_request
from steelyard.sampling.llm.faults import (
    BusyError,
    GoneError,
    RefusedError,
    SpentError,
    TooLargeError,
    TryError,
    bare,
    refusal,
)
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.llm.retry import BUSY, in_turn, pause


class Missing(NamedTuple):
    """The samples that a reply lacks: how many it has, the reasons for the others, and whether choices are missing."""

    good: int
    reasons: dict[int, str]
    short: bool


class Asker:
    """Requests batches until every sample of them is in the journal."""

    def __init__(
        self,
        share: Share,
        client: Client,
        sampling: Sampling,
        abilities: Abilities,
        *,
        pace: Pace,
        limits: Limits,
        settled: Callable[[int, int, int, str, Usage], None],
    ) -> None:
        self.share, self.client, self.sampling = share, client, sampling
        self.abilities, self.pace, self.limits = abilities, pace, limits
        self.saving = 0
        self.without_statistics = 0  # samples whose log-probabilities were requested but not returned
        self._settled = settled  # called with: samples, failures, tokens, the last reason, usage

    @property
    def most(self) -> int:
        """How many samples one request asks for."""
        return samples_per_request(self.abilities, self.sampling)

    async def settle(self, batch: Batch) -> None:
        """Return when every sample of the batch is in the journal, as a sample or as a failure."""
        left: Batch | None = batch
        while left is not None:
            left = await self._step(left)

    async def _step(self, batch: Batch) -> Batch | None:
        """Send one request and save its samples; return what is left to request after a pause."""
        if batch.count > self.most:
            await self._parts(batch)
            return None
        result = await self._try(batch)
        return await (self._rest(batch, result) if isinstance(result, Missing) else self._after(batch, result))

    async def _after(self, batch: Batch, error: TryError) -> Batch | None:
        """Handle a try that failed."""
        if isinstance(error, SpentError):
            return await self._fail(batch, error.reason)
        if isinstance(error, BusyError):  # the pace waits as long as the server asks
            later = replace(batch, put_off=batch.put_off + 1)
            return later if batch.put_off < BUSY else await self._fail(later, error.reason)
        if isinstance(error, RefusedError):
            return await self._refused(batch, error)
        if isinstance(error, TooLargeError) and batch.count > 1:
            self._learn(batch.count // 2)
            return batch
        if isinstance(error, GoneError) and batch.tries >= self.limits.retries:
            raise UpstreamError(
                f"{error.reason}; all samples so far are saved: start the server and run the same command again"
            )
        return await self._again(batch, error.reason)

    async def _try(self, batch: Batch) -> Missing | TryError:
        """Send one request when the pace allows it, and save its samples; a long reply reserves memory until then."""
        body = body_of(self.sampling, self.abilities, batch.prompt, n=batch.count, first=batch.first)
        until = batch.since + self.limits.sample_timeout
        with Hold(self.client.room) as hold:

            async def send() -> Reply:
                try:
                    timeout, top = until - time.monotonic(), self.sampling.top_logprobs
                    return await self.client.sample(body, batch.count, timeout=timeout, hold=hold, top=top)
                except RefusedError as error:
                    if error.everywhere:  # before the next request is sent
                        self.pace.close()
                    raise

            try:
                return await self._save(batch, await in_turn(self.pace, until, batch.put_off, send))
            except SpentError as error:
                return SpentError(f"no sample within {self.limits.sample_timeout:.3g} s: {error.reason}")
            except TryError as error:
                return bare(error)

    async def _save(self, batch: Batch, reply: Reply) -> Missing:
        """Write the samples of a reply to the journal; return what is missing in it."""
        self.saving += 1
        try:
            if batch.count == 1 and reply.good:
                await self.share.add(self._record(batch, reply, 0))
            else:
                await asyncio.gather(*(self.share.add(self._record(batch, reply, j)) for j in sorted(reply.good)))
        finally:
            self.saving -= 1
        if self.sampling.top_logprobs:
            self.without_statistics += sum(choice.token_statistics is None for choice in reply.good.values())
        tokens, usage = sum(choice.tokens or 0 for choice in reply.good.values()), Usage()
        if reply.good:
            usage = usage_from_field(usage_field(reply.counts, len(reply.good)))
        self._settled(len(reply.good), 0, tokens, "", usage)
        return Missing(len(reply.good), reply.wrong, reply.short)

    async def _rest(self, batch: Batch, missing: Missing) -> Batch | None:
        """Request the samples that a reply lacks again, one by one."""
        if batch.count == 1:
            return await self._again(batch, missing.reasons[0]) if missing.reasons else None
        parts = [(batch.part(batch.first + j, 1), reason) for j, reason in sorted(missing.reasons.items())]
        if missing.short:  # the server does not support n, or not as many: the samples are not at fault
            self._learn(missing.good)
            await _together(self.settle(part) for part, _ in parts)
        else:
            await _together(self._settle_again(part, reason) for part, reason in parts)
        return None

    async def _settle_again(self, batch: Batch, reason: str) -> None:
        left = await self._again(batch, reason)
        if left is not None:
            await self.settle(left)

    async def _refused(self, batch: Batch, error: RefusedError) -> Batch | None:
        """A wrong key or model stops the run, a refused question is a failure; else n was too large."""
        if error.everywhere:
            raise refusal(self.client.address.base, error, self.sampling.model)
        tried = replace(batch, tries=batch.tries + 1)
        if batch.count == 1:
            return await self._fail(tried, error.reason)
        single = batch.part(batch.first, 1)
        result = await self._try(single)
        if isinstance(result, RefusedError):
            return await self._fail(tried, error.reason)
        if isinstance(result, TryError):
            return await self._again(batch, result.reason)
        self._learn(batch.count // 2)
        rest = batch.part(batch.first + 1, batch.count - 1)
        if not result.reasons:
            return rest
        await _together([self._settle_again(single, result.reasons[0]), self.settle(rest)])
        return None

    async def _again(self, batch: Batch, reason: str) -> Batch | None:
        """Wait, and return the batch for another try, unless its tries or its time are used up."""
        wait = pause(batch.tries)
        once_more = batch.tries < self.limits.retries
        batch = replace(batch, tries=batch.tries + 1)
        if not once_more or time.monotonic() + wait >= batch.since + self.limits.sample_timeout:
            return await self._fail(batch, reason)
        await asyncio.sleep(wait)
        return batch

    async def _fail(self, batch: Batch, reason: str) -> Batch | None:
        """Write to the journal that these samples failed; nothing of them is left to request."""
        attempts = batch.tries + batch.put_off
        records = [
            {"kind": "failure", "question": batch.question, "sample": i, "reason": reason, "attempts": attempts}
            for i in batch.samples
        ]
        await asyncio.gather(*map(self.share.add, records))
        self._settled(0, batch.count, 0, reason, Usage())
        return None

    async def _parts(self, batch: Batch) -> None:
        """Settle a batch as smaller ones, all at once."""
        size, end = self.most, batch.first + batch.count
        await _together(self.settle(batch.part(i, min(size, end - i))) for i in range(batch.first, end, size))

    def _learn(self, most: int) -> None:
        """Remember the most choices per request that the server supports."""
        self.abilities = replace(self.abilities, most=max(1, min(self.abilities.most, most)))

    def _record(self, batch: Batch, reply: Reply, j: int) -> dict[str, Any]:
        choice = reply.good[j]
        statistics = {"token_statistics": choice.token_statistics} if choice.token_statistics else {}
        usage = {FIELD: usage_field(reply.counts, len(reply.good))} if j == min(reply.good) else {}
        return {
            "kind": "sample",
            "question": batch.question,
            "sample": batch.first + j,
            "response": choice.text,
            "finish": choice.finish,
            "tokens": choice.tokens,
            "logprob": choice.logprob,
            "seed": self.sampling.seed + batch.first + j,
            "attempts": batch.tries + batch.put_off + 1,
            "model": reply.model,
            **statistics,
            **usage,
        }


async def _together(tasks: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run several tasks at once; the first error ends them all."""
    try:
        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(task)
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


@dataclass(frozen=True)
class Batch:
    """A request for samples first .. first + count - 1 of a question, and its tries so far."""

    question: str
    prompt: str
    first: int
    count: int
    since: float
    tries: int = 0
    put_off: int = 0

    @property
    def samples(self) -> range:
        return range(self.first, self.first + self.count)

    def part(self, first: int, count: int) -> Batch:
        return replace(self, first=first, count=count)
