"""The samples of one request as they come: by `n` of the upstream where it has that, else one request each.

A request that fails is made again, RETRIES times at most, and all requests together are at most
n * (1 + RETRIES). Where an upstream sends fewer choices than it was asked for, the missing ones are asked for one by
one, and its probe finds out whether it has become so. When the caller stops, what is under way is cancelled upstream.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable
from typing import Any, NamedTuple

from steelyard.gateway.limits.allowance import Allowance
from steelyard.gateway.messages.chat_request import LIMITS, MANY, OURS, ChatRequest
from steelyard.gateway.messages.json_members import Parts
from steelyard.gateway.messages.samples import Sample, choices_by_index
from steelyard.gateway.messages.usage import of_all_choices
from steelyard.gateway.upstream.billed_tries import BilledTries
from steelyard.gateway.upstream.source import RETRIES, Source
from steelyard.gateway.upstream.upstream_reply import checked_reply
from steelyard.gateway.vote.scoring import Scorer, scored
from steelyard.runs.parameters import Abilities
from steelyard.sampling.llm.address import CHAT
from steelyard.sampling.llm.client import UNTIMED
from steelyard.sampling.llm.faults import BusyError, GoneError, LateError, RefusedError, SpentError, TryError, bare
from steelyard.sampling.llm.reply import ECHO, Reply

NOT_SENT = frozenset({OURS, "n", *MANY, "stream", "stream_options", "seed", "model"})
TICK = 0.05  # seconds before the deadline at which nobody waits for a sample any more
REQUEST = "x-request-id"


class Wanted(NamedTuple):
    """How many samples are drawn of a request, until when, and whether with log-probabilities of our own."""

    n: int
    until: float  # by the monotonic clock
    scored: bool
    at_once: bool  # by `n` of the upstream, where it has it
    max_tokens: int | None = None  # per sample, where the client names none
    allowance: Allowance | None = None  # for other tries, where something is limited


class Drawing:
    """Draws the samples of one request from one upstream."""

    def __init__(
        self, source: Source, asked: ChatRequest, wanted: Wanted, request_id: str, scorer: Scorer | None = None
    ) -> None:
        self.source, self.asked, self.wanted, self.scorer = source, asked, wanted, scorer
        self.attempts = 0
        self.size = 1  # samples that one request asks for
        self.replies: list[dict[str, Any]] = []  # without their choices
        self.came: list[Sample] = []  # all of them, also those that nobody waited for any more
        self._headers = {REQUEST: request_id}
        self._written: tuple[dict[str, Any], bytes | Parts] = ({}, b"")  # the last body, after what is changed in it
        self._tries = BilledTries(source.name, wanted.allowance)

    async def samples(self) -> AsyncGenerator[Sample]:
        """Yield every sample once, in the order they come."""
        able = await self.source.able()
        self.size = size = min(able.most, self.wanted.n) if self.wanted.at_once else 1
        if size == self.wanted.n:  # one request, beside which nothing is to be done
            self.came = await self._scored(0, size)
            for sample in sorted(self.came, key=lambda one: one.number):
                yield sample
            return
        tasks = {
            asyncio.create_task(self._scored(first, min(size, self.wanted.n - first)))
            for first in range(0, self.wanted.n, size)
        }
        done: asyncio.Queue[asyncio.Task[list[Sample]]] = asyncio.Queue()
        for task in tasks:
            task.add_done_callback(done.put_nowait)
        try:
            while tasks:
                ready = [await done.get(), *(done.get_nowait() for _ in range(done.qsize()))]
                tasks -= set(ready)
                came = [sample for task in ready for sample in task.result()]
                self.came += came
                for sample in sorted(came, key=lambda one: one.number):
                    yield sample
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            self.came += [sample for each in ended if not isinstance(each, BaseException) for sample in each]

    async def _scored(self, first: int, count: int) -> list[Sample]:
        """Samples with their scores."""
        samples = await self._batch(first, count)
        if self.scorer is None:
            return samples
        question, until = self.asked.question, self.wanted.until
        if self.scorer.logprobs or len(samples) == 1:  # there is nothing to wait for at once
            return [self._without_key(await scored(self.scorer, question, sample, until)) for sample in samples]
        rated = await asyncio.gather(*(scored(self.scorer, question, sample, until) for sample in samples))
        return [self._without_key(sample) for sample in rated]

    def _without_key(self, sample: Sample) -> Sample:
        """A sample with nothing of its verifier that holds a key."""
        if not self.source.secrets.in_json([sample.scoring, sample.unscored]):
            return sample
        return sample._replace(score=None, scoring=None, unscored=ECHO)

    async def _batch(self, first: int, count: int) -> list[Sample]:
        """Samples first .. first + count - 1."""
        try:
            good, reply = await self._asked(first, count)
        except RefusedError as error:
            if count == 1 or error.everywhere:
                return self._failed(first, count, error)
            return await self._after_refusal(first, count, error)
        except (BusyError, GoneError, LateError, SpentError) as error:
            return self._failed(first, count, error)
        except TryError as error:
            if count == 1:
                return self._failed(first, count, error)
            return await self._singly(range(first, first + count))  # one bad sample may have spoilt the reply
        if reply.short:
            self.source.doubt_choices()
        return good + await self._singly(first + j for j in sorted(reply.wrong))

    async def _after_refusal(self, first: int, count: int, error: RefusedError) -> list[Sample]:
        """One sample by itself says whether n was too large, or the request is at fault."""
        alone = await self._batch(first, 1)
        if isinstance(alone[0].error, RefusedError):
            return alone + self._failed(first + 1, count - 1, error)
        self.source.refused_choices(error.reason)
        return alone + await self._singly(range(first + 1, first + count))

    async def _singly(self, numbers: Iterable[int]) -> list[Sample]:
        """Samples by a request each; one that is late costs none of the others."""
        tasks = {asyncio.create_task(self._batch(number, 1)): number for number in numbers}
        if not tasks:
            return []
        try:
            await asyncio.wait(tasks, timeout=max(0.0, self.wanted.until - TICK - time.monotonic()))
            late = LateError("nothing came in time")
            came = [task.result() if task.done() else self._failed(number, 1, late) for task, number in tasks.items()]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return [sample for each in came for sample in each]

    def _failed(self, first: int, count: int, error: TryError) -> list[Sample]:
        reason = bare(error)
        return [Sample(first + j, self.source.name, error=reason) for j in range(count)]

    async def _asked(self, first: int, count: int) -> tuple[list[Sample], Reply]:
        """One request with its tries: the samples that came, and what was read of them."""
        able = await self.source.able()
        if self._limit is None:
            content, reply = await self._sent(self._body(able, first, count), first, count)
        else:
            content, reply = await self.source.limited(
                self._limit,
                self.asked.size,
                lambda name, limit: self._sent(self._body(able, first, count, **{name: limit}), first, count),
            )
        raw = choices_by_index(content)
        rest = {name: value for name, value in content.items() if name != "choices"}
        if count > 1 and "usage" in rest:
            rest["usage"] = of_all_choices(rest["usage"], reply, believed=able.usage)
        self.replies.append(rest)
        self._tries.report(range(first, first + count), rest.get("usage"))
        name = rest.get("id") if count == 1 else None
        response = name if isinstance(name, str) and name else None
        came = [
            Sample(first + j, self.source.name, good, raw[j], rest, response=response, choices=count)
            for j, good in sorted(reply.good.items())
        ]
        return came, reply

    async def _sent(self, body: bytes | Parts, first: int, count: int) -> tuple[Any, Reply]:
        """Send a request, and again where that may help."""

        async def send() -> tuple[Any, Reply]:
            if self.attempts >= self.wanted.n * (1 + RETRIES):
                raise SpentError("all tries of this request are used up")
            with self._tries.one(range(first, first + count)):
                self.attempts += 1
                client = self.source.client
                content = await client.request("POST", CHAT, body, timeout=UNTIMED, headers=self._headers)
                try:
                    return content, checked_reply(content, count, self.source, logprobs=self.asked.logprobs)
                except TryError:
                    if count == 1 and isinstance(content, dict):  # of several choices some servers count one alone
                        self._tries.report(range(first, first + 1), content.get("usage"))
                    raise

        tries = 1 + RETRIES if count == 1 else 1
        return await self.source.send(send, tries=tries, until=self.wanted.until)

    @property
    def _limit(self) -> int | None:
        """The most tokens of a sample, where the client has not written it in words of the chat API."""
        if any(self.asked.members.values.get(name) for name in LIMITS):
            return None
        return self.wanted.max_tokens if self.asked.max_tokens is None else self.asked.max_tokens

    def _body(self, able: Abilities, first: int, count: int, **limit: int) -> bytes | Parts:
        """What the client sent, for the upstream's own model and without what is ours."""
        changed: dict[str, Any] = {"model": self.source.model, **limit}
        if count > 1:
            changed["n"] = count
        if self.asked.seed is not None:
            changed["seed"] = self.asked.seed + first
        if self.wanted.scored and able.logprobs and not self.asked.logprobs:
            changed |= {"logprobs": True, "top_logprobs": 1}
        if self._written[0] != changed:
            self._written = changed, self.asked.members.to_send(without=NOT_SENT, **changed)
        return self._written[1]
