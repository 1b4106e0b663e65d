"""One request of a run and all that becomes of it: samples in the journal, or failures with their reasons.

A try that fails is made again up to `retries` times, then its samples are failures. A busy server (429, 503) does not
use up tries: everybody waits as long as it says, and one sample at most BUSY times. When n samples at once are refused,
one of them is asked for by itself: if it comes, n was too large for the server, and that is remembered; if not, the
question is at fault. A server that sends fewer choices than asked for is remembered too. Clocks are monotonic.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from typing import Any

from steelyard.errors import UpstreamError
from steelyard.runs.batch import Batch, Limits
from steelyard.runs.run import Run
from steelyard.sampling.abilities import advice
from steelyard.sampling.client import Client
from steelyard.sampling.faults import BusyError, GoneError, LateError, RefusedError, TooLargeError, TryError
from steelyard.sampling.pace import Pace
from steelyard.sampling.reply import Reply, read_reply
from steelyard.sampling.request import Abilities, Sampling, body_of

BUSY = 20  # times one sample is put off by a busy server
FIRST_PAUSE = 0.5  # seconds; doubled with every try
LONGEST_PAUSE = 60.0


class Asker:
    """Asks for batches until every sample of theirs is settled."""

    def __init__(
        self,
        run: Run,
        client: Client,
        sampling: Sampling,
        abilities: Abilities,
        *,
        pace: Pace,
        limits: Limits,
        settled: Callable[[int, int, int, str], None],
    ) -> None:
        self.run, self.client, self.sampling = run, client, sampling
        self.abilities, self.pace, self.limits = abilities, pace, limits
        self.saving = 0
        self._settled = settled  # is told: samples, failures, tokens, the last reason

    @property
    def most(self) -> int:
        """How many samples one request asks for."""
        return self.abilities.fitting(self.sampling)

    async def settle(self, batch: Batch) -> None:
        """Return when every sample of the batch is in the journal, as a sample or as a failure."""
        if batch.count > self.most:
            await self._parts(batch)
            return
        try:
            reply = await self._try(batch)
        except BusyError as error:
            await self._later(replace(batch, put_off=batch.put_off + 1), error.reason, batch.put_off < BUSY, 0.0)
        except RefusedError as error:
            await self._refused(batch, error)
        except TooLargeError as error:
            if batch.count == 1:
                await self._again(batch, error.reason)
            else:
                self._learn(batch.count // 2)
                await self._parts(batch)
        except TryError as error:
            if isinstance(error, GoneError) and batch.tries >= self.limits.retries:
                raise UpstreamError(
                    f"{error.reason}; what was sampled is safe: start the server and run the same command again"
                ) from None
            await self._again(batch, error.reason)
        else:
            await self._take(batch, reply)

    async def _try(self, batch: Batch) -> Reply:
        """One request, in its place among the others."""
        body = body_of(self.sampling, self.abilities, batch.prompt, n=batch.count, first=batch.first)
        async with self.pace.slot() as sent:
            left = batch.since + self.limits.sample_timeout - time.monotonic()
            if left <= 0:
                raise TryError(f"no sample within {self.limits.sample_timeout:.3g} s")
            try:
                content = await self.client.chat(body, timeout=left)
            except BusyError as error:
                pause = _pause(batch.put_off) if error.wait is None else error.wait
                self.pace.pushed_back(sent, pause)
                raise
            except (GoneError, LateError):
                self.pace.pushed_back(sent)
                raise
            except RefusedError as error:
                if error.everywhere:
                    self.pace.close()
                raise
            self.pace.worked()
        return read_reply(content, batch.count)

    async def _take(self, batch: Batch, reply: Reply) -> None:
        """Keep the samples of a reply; what is missing in it is asked for again."""
        self.saving += 1
        try:
            if batch.count == 1 and reply.good:
                await self.run.add(self._record(batch, reply, 0))
            else:
                await asyncio.gather(*(self.run.add(self._record(batch, reply, j)) for j in sorted(reply.good)))
        finally:
            self.saving -= 1
        self._settled(len(reply.good), 0, sum(choice.tokens or 0 for choice in reply.good.values()), "")
        if not reply.wrong:
            return
        parts = [(batch.part(batch.first + j, 1), reason) for j, reason in sorted(reply.wrong.items())]
        if reply.short and batch.count > 1:  # it does not do n, or not as many: not the samples' fault
            self._learn(len(reply.good))
            await _together(self.settle(part) for part, _ in parts)
        else:
            await _together(self._again(part, reason) for part, reason in parts)

    async def _refused(self, batch: Batch, error: RefusedError) -> None:
        """A wrong key or model stops the run; a question that is refused is a failure; else n was too large."""
        if error.everywhere:
            raise UpstreamError(
                f"{self.client.address.base} refuses to sample: {error.reason}{advice(error, self.sampling)}"
            ) from None
        asked = replace(batch, tries=batch.tries + 1)
        if batch.count == 1:
            await self._fail(asked, error.reason)
            return
        try:
            reply = await self._try(batch.part(batch.first, 1))
        except RefusedError:
            await self._fail(asked, error.reason)
        except TryError as other:
            await self._again(batch, other.reason)
        else:
            self._learn(batch.count // 2)
            await self._take(batch.part(batch.first, 1), reply)
            await self.settle(batch.part(batch.first + 1, batch.count - 1))

    async def _again(self, batch: Batch, reason: str) -> None:
        once_more = batch.tries < self.limits.retries
        await self._later(replace(batch, tries=batch.tries + 1), reason, once_more, _pause(batch.tries))

    async def _later(self, batch: Batch, reason: str, once_more: bool, pause: float) -> None:
        """Ask again after a pause, unless the patience or the time of these samples is at its end."""
        end = batch.since + self.limits.sample_timeout
        if once_more and time.monotonic() + max(pause, self.pace.closed_for) < end:
            await asyncio.sleep(pause)
            await self.settle(batch)
        else:
            await self._fail(batch, reason)

    async def _fail(self, batch: Batch, reason: str) -> None:
        attempts = batch.tries + batch.put_off
        records = [
            {"kind": "failure", "question": batch.question, "sample": i, "reason": reason, "attempts": attempts}
            for i in batch.samples
        ]
        await asyncio.gather(*map(self.run.add, records))
        self._settled(0, batch.count, 0, reason)

    async def _parts(self, batch: Batch) -> None:
        """Settle a batch as smaller ones, all at once."""
        size, end = self.most, batch.first + batch.count
        await _together(self.settle(batch.part(i, min(size, end - i))) for i in range(batch.first, end, size))

    def _learn(self, most: int) -> None:
        """Remember that the server does not do more choices a request."""
        self.abilities = replace(self.abilities, most=max(1, min(self.abilities.most, most)))

    def _record(self, batch: Batch, reply: Reply, j: int) -> dict[str, Any]:
        choice = reply.good[j]
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
        }


async def _together(tasks: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do several things at once; the first that cannot be lived with ends them all."""
    try:
        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(task)
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None


def _pause(tries: int) -> float:
    """Seconds before another try: doubled every time, and never the same for all."""
    return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2**tries) * random.uniform(0.75, 1.25))  # noqa: S311
