"""One request of a run and all that becomes of it: samples in the journal, or failures with their reasons.

A try that fails is made again up to `retries` times, then its samples are failures. A busy server (429, 503) does not
use up tries: everybody waits (llm/pace.py), and one sample at most BUSY times; a sample whose time is over while the
server asks for more fails then. No error is kept while another try is made: its frames hold what was read.

When n samples at once are refused, one of them is asked for by itself: if it comes, n was too large for the server, and
that is remembered; if not, the question is at fault. A server that sends fewer choices than asked for is remembered
too. Clocks are monotonic.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from steelyard.foundation.errors import UpstreamError
from steelyard.runs.parameters import Abilities, Sampling
from steelyard.runs.source_share import Share
from steelyard.runs.usage import FIELD, Usage, usage_field, usage_from_field
from steelyard.sampling.generate.request_batch import Batch, Limits
from steelyard.sampling.llm.advice import refusal
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.faults import (
    BusyError,
    GoneError,
    RefusedError,
    SpentError,
    TooLargeError,
    TryError,
    bare,
)
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.llm.reply import Reply
from steelyard.sampling.llm.reply_memory import Hold
from steelyard.sampling.llm.request import body_of, samples_per_request
from steelyard.sampling.llm.retry import BUSY, in_turn, pause


class Missing(NamedTuple):
    """What a reply lacks: how many samples it had, the reasons for the others, and whether it was simply too short."""

    good: int
    reasons: dict[int, str]
    short: bool


class Asker:
    """Asks for batches until every sample of theirs is settled."""

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
        self._settled = settled  # is told: samples, failures, tokens, the last reason, usage

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
        """Ask once, and keep what comes; return what is left to be asked for after a pause."""
        if batch.count > self.most:
            await self._parts(batch)
            return None
        found = await self._try(batch)
        return await (self._rest(batch, found) if isinstance(found, Missing) else self._after(batch, found))

    async def _after(self, batch: Batch, found: TryError) -> Batch | None:
        """What to do about a try that gave nothing."""
        if isinstance(found, SpentError):
            return await self._fail(batch, found.reason)
        if isinstance(found, BusyError):  # the gate is closed as long as it says
            later = replace(batch, put_off=batch.put_off + 1)
            return later if batch.put_off < BUSY else await self._fail(later, found.reason)
        if isinstance(found, RefusedError):
            return await self._refused(batch, found)
        if isinstance(found, TooLargeError) and batch.count > 1:
            self._learn(batch.count // 2)
            return batch
        if isinstance(found, GoneError) and batch.tries >= self.limits.retries:
            raise UpstreamError(
                f"{found.reason}; what was sampled is safe: start the server and run the same command again"
            )
        return await self._again(batch, found.reason)

    async def _try(self, batch: Batch) -> Missing | TryError:
        """One request in its place among the others; its samples are kept. A long reply holds its room until then."""
        body = body_of(self.sampling, self.abilities, batch.prompt, n=batch.count, first=batch.first)
        until = batch.since + self.limits.sample_timeout
        with Hold(self.client.room) as hold:

            async def send() -> Reply:
                try:
                    return await self.client.sample(body, batch.count, timeout=until - time.monotonic(), hold=hold)
                except RefusedError as error:
                    if error.everywhere:  # before the next one takes our place
                        self.pace.close()
                    raise

            try:
                return await self._keep(batch, await in_turn(self.pace, until, batch.put_off, send))
            except SpentError as error:
                return SpentError(f"no sample within {self.limits.sample_timeout:.3g} s: {error.reason}")
            except TryError as error:
                return bare(error)

    async def _keep(self, batch: Batch, reply: Reply) -> Missing:
        """Write down the samples of a reply; return what is missing in it."""
        self.saving += 1
        try:
            if batch.count == 1 and reply.good:
                await self.share.add(self._record(batch, reply, 0))
            else:
                await asyncio.gather(*(self.share.add(self._record(batch, reply, j)) for j in sorted(reply.good)))
        finally:
            self.saving -= 1
        tokens, usage = sum(choice.tokens or 0 for choice in reply.good.values()), Usage()
        if reply.good:
            usage = usage_from_field(usage_field(reply.counts, len(reply.good)))
        self._settled(len(reply.good), 0, tokens, "", usage)
        return Missing(len(reply.good), reply.wrong, reply.short)

    async def _rest(self, batch: Batch, found: Missing) -> Batch | None:
        """What a reply did not hold is asked for again, each sample by itself."""
        if batch.count == 1:
            return await self._again(batch, found.reasons[0]) if found.reasons else None
        parts = [(batch.part(batch.first + j, 1), reason) for j, reason in sorted(found.reasons.items())]
        if found.short:  # it does not do n, or not as many: not the samples' fault
            self._learn(found.good)
            await _together(self.settle(part) for part, _ in parts)
        else:
            await _together(self._settle_again(part, reason) for part, reason in parts)
        return None

    async def _settle_again(self, batch: Batch, reason: str) -> None:
        left = await self._again(batch, reason)
        if left is not None:
            await self.settle(left)

    async def _refused(self, batch: Batch, error: RefusedError) -> Batch | None:
        """A wrong key or model stops the run; a question that is refused is a failure; else n was too large."""
        if error.everywhere:
            raise refusal(self.client.address.base, error, self.sampling.model)
        asked = replace(batch, tries=batch.tries + 1)
        if batch.count == 1:
            return await self._fail(asked, error.reason)
        single = batch.part(batch.first, 1)
        found = await self._try(single)
        if isinstance(found, RefusedError):
            return await self._fail(asked, error.reason)
        if isinstance(found, TryError):
            return await self._again(batch, found.reason)
        self._learn(batch.count // 2)
        rest = batch.part(batch.first + 1, batch.count - 1)
        if not found.reasons:
            return rest
        await _together([self._settle_again(single, found.reasons[0]), self.settle(rest)])
        return None

    async def _again(self, batch: Batch, reason: str) -> Batch | None:
        """After a pause the batch to ask for again, unless the patience or the time of its samples is at its end."""
        wait = pause(batch.tries)
        once_more = batch.tries < self.limits.retries
        batch = replace(batch, tries=batch.tries + 1)
        if not once_more or time.monotonic() + wait >= batch.since + self.limits.sample_timeout:
            return await self._fail(batch, reason)
        await asyncio.sleep(wait)
        return batch

    async def _fail(self, batch: Batch, reason: str) -> Batch | None:
        """Write down that these samples failed; nothing of them is left to ask for."""
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
        """Remember that the server does not do more choices a request."""
        self.abilities = replace(self.abilities, most=max(1, min(self.abilities.most, most)))

    def _record(self, batch: Batch, reply: Reply, j: int) -> dict[str, Any]:
        choice = reply.good[j]
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
            **usage,
        }


async def _together(tasks: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do several things at once; the first that cannot be lived with ends them all."""
    try:
        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(task)
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
