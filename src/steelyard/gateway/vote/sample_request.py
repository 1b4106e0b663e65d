"""The samples of one request from one upstream: with its parameter `n` if it supports that, else one request each.

A failed request is retried at most RETRIES times, and there are at most n * (1 + RETRIES) requests in all. If an
upstream sends fewer choices than requested, the missing ones are requested one by one, and it is probed again. When the
caller stops, running requests are cancelled.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable
from typing import Any, NamedTuple

from steelyard.gateway.limits.request_budget import Allowance
from steelyard.gateway.messages.chat_request import LIMITS, MANY, OURS, ChatRequest
from steelyard.gateway.messages.json_body import Parts
from steelyard.gateway.upstream.billing import BilledTries, usage_of_all_choices
from steelyard.gateway.upstream.samples import Sample, choices_by_index
from steelyard.gateway.upstream.source import RETRIES, Source
from steelyard.gateway.upstream.upstream_reply import checked_reply
from steelyard.gateway.vote.scoring import Scorer, scored
from steelyard.runs.parameters import Abilities
from steelyard.sampling.interrupts import cancel_and_wait
from steelyard.sampling.llm.address import CHAT
from steelyard.sampling.llm.client import UNTIMED
from steelyard.sampling.llm.completion_json import ECHO, Reply
from steelyard.sampling.llm.faults import BusyError, GoneError, LateError, RefusedError, SpentError, TryError, bare
from steelyard.sampling.telemetry.upstream_call import upstream_call

NOT_SENT = frozenset({OURS, "n", *MANY, "stream", "stream_options", "seed", "model"})
TICK = 0.05  # seconds before the deadline at which waiting for samples ends
REQUEST = "x-request-id"


class SampleSpec(NamedTuple):
    """How many samples are drawn, until when, and whether log-probabilities are requested for their scores."""

    n: int
    until: float  # by the monotonic clock
    scored: bool
    at_once: bool  # with the parameter `n` of the upstream, if it supports it
    max_tokens: int | None = None  # per sample, if the client sets none
    allowance: Allowance | None = None  # for retries, if tokens or cost are limited


class SampleRequest:
    """Draws the samples of one request from one upstream."""

    def __init__(
        self, source: Source, chat_request: ChatRequest, spec: SampleSpec, request_id: str, scorer: Scorer | None = None
    ) -> None:
        self.source, self.chat_request, self.spec, self.scorer = source, chat_request, spec, scorer
        self.attempts = 0
        self.size = 1  # samples per request
        self.replies: list[dict[str, Any]] = []  # without their choices
        self.received: list[Sample] = []  # all samples, also those that arrived after the vote stopped
        self._headers = {REQUEST: request_id}
        self._last_body: tuple[dict[str, Any], bytes | Parts] = ({}, b"")  # the changed fields, and the body
        self._tries = BilledTries(source.name, spec.allowance)

    async def samples(self) -> AsyncGenerator[Sample]:
        """Yield every sample once, as they arrive."""
        abilities = await self.source.current_abilities()
        self.size = size = min(abilities.most, self.spec.n) if self.spec.at_once else 1
        if size == self.spec.n:  # a single request needs no tasks
            self.received = await self._scored_batch(0, size)
            for sample in sorted(self.received, key=lambda sample: sample.number):
                yield sample
            return
        tasks = {
            asyncio.create_task(self._scored_batch(first, min(size, self.spec.n - first)))
            for first in range(0, self.spec.n, size)
        }
        done: asyncio.Queue[asyncio.Task[list[Sample]]] = asyncio.Queue()
        for task in tasks:
            task.add_done_callback(done.put_nowait)
        try:
            while tasks:
                ready = [await done.get(), *(done.get_nowait() for _ in range(done.qsize()))]
                tasks -= set(ready)
                received = [sample for task in ready for sample in task.result()]
                self.received += received
                for sample in sorted(received, key=lambda sample: sample.number):
                    yield sample
        finally:
            finished = await cancel_and_wait(*tasks)
            self.received += [sample for batch in finished if not isinstance(batch, BaseException) for sample in batch]

    async def _scored_batch(self, first: int, count: int) -> list[Sample]:
        """Samples with their scores."""
        samples = await self._batch(first, count)
        if self.scorer is None:
            return samples
        question, until = self.chat_request.question, self.spec.until
        if self.scorer.logprobs or len(samples) == 1:  # nothing to do concurrently
            return [self._without_key(await scored(self.scorer, question, sample, until)) for sample in samples]
        rated = await asyncio.gather(*(scored(self.scorer, question, sample, until) for sample in samples))
        return [self._without_key(sample) for sample in rated]

    def _without_key(self, sample: Sample) -> Sample:
        """A sample without verifier output that contains a key."""
        if not self.source.secrets.in_json([sample.scoring, sample.unscored]):
            return sample
        return sample._replace(score=None, scoring=None, unscored=ECHO)

    async def _batch(self, first: int, count: int) -> list[Sample]:
        """Samples first .. first + count - 1."""
        try:
            good, reply = await self._request(first, count)
        except RefusedError as error:
            if count == 1 or error.everywhere:
                return self._failed(first, count, error)
            return await self._after_refusal(first, count, error)
        except (BusyError, GoneError, LateError, SpentError) as error:
            return self._failed(first, count, error)
        except TryError as error:
            if count == 1:
                return self._failed(first, count, error)
            return await self._one_by_one(range(first, first + count))  # one bad sample may have spoiled the reply
        if reply.short:
            self.source.doubt_choices()
        return good + await self._one_by_one(first + j for j in sorted(reply.wrong))

    async def _after_refusal(self, first: int, count: int, error: RefusedError) -> list[Sample]:
        """Request one sample alone, to see whether n was too large or the request itself is refused."""
        alone = await self._batch(first, 1)
        if isinstance(alone[0].error, RefusedError):
            return alone + self._failed(first + 1, count - 1, error)
        self.source.refused_choices(error.reason)
        return alone + await self._one_by_one(range(first + 1, first + count))

    async def _one_by_one(self, numbers: Iterable[int]) -> list[Sample]:
        """Samples by one request each; a late one does not affect the others."""
        tasks = {asyncio.create_task(self._batch(number, 1)): number for number in numbers}
        if not tasks:
            return []
        try:
            await asyncio.wait(tasks, timeout=max(0.0, self.spec.until - TICK - time.monotonic()))
            late = LateError("no response arrived in time")
            batches = [
                task.result() if task.done() else self._failed(number, 1, late) for task, number in tasks.items()
            ]
        finally:
            await cancel_and_wait(*tasks)
        return [sample for batch in batches for sample in batch]

    def _failed(self, first: int, count: int, error: TryError) -> list[Sample]:
        reason = bare(error)
        return [Sample(first + j, self.source.name, error=reason) for j in range(count)]

    async def _request(self, first: int, count: int) -> tuple[list[Sample], Reply]:
        """One request with its retries: the samples received, and the parsed reply."""
        abilities = await self.source.current_abilities()
        if self._limit is None:
            content, reply = await self._send(self._body(abilities, first, count), first, count)
        else:
            content, reply = await self.source.limited(
                self._limit,
                self.chat_request.size,
                lambda name, limit: self._send(self._body(abilities, first, count, **{name: limit}), first, count),
            )
        raw = choices_by_index(content)
        rest = {name: value for name, value in content.items() if name != "choices"}
        if count > 1 and "usage" in rest:
            rest["usage"] = usage_of_all_choices(rest["usage"], reply, believed=abilities.usage)
        self.replies.append(rest)
        self._tries.report(range(first, first + count), rest.get("usage"))
        name = rest.get("id") if count == 1 else None
        response = name if isinstance(name, str) and name else None
        received = [
            Sample(first + j, self.source.name, good, raw[j], rest, response=response, choices=count)
            for j, good in sorted(reply.good.items())
        ]
        return received, reply

    async def _send(self, body: bytes | Parts, first: int, count: int) -> tuple[Any, Reply]:
        """Send a request, with retries."""

        async def send() -> tuple[Any, Reply]:
            if self.attempts >= self.spec.n * (1 + RETRIES):
                raise SpentError("all retries of this request are used up")
            with self._tries.attempt(range(first, first + count)):
                self.attempts += 1
                client = self.source.client
                with upstream_call(client.address, self.source.model, count) as call:
                    headers = {**self._headers, **call.headers}
                    content = await client.request("POST", CHAT, body, timeout=UNTIMED, headers=headers)
                    try:
                        reply = checked_reply(content, count, self.source, logprobs=self.chat_request.logprobs)
                    except TryError:
                        if count == 1 and isinstance(content, dict):  # some servers report only one of several choices
                            self._tries.report(range(first, first + 1), content.get("usage"))
                        raise
                    call.add_reply(reply)
                    return content, reply

        tries = 1 + RETRIES if count == 1 else 1
        return await self.source.send(send, tries=tries, until=self.spec.until)

    @property
    def _limit(self) -> int | None:
        """The token limit of a sample, unless the client's body contains one."""
        if any(self.chat_request.members.values.get(name) for name in LIMITS):
            return None
        return self.spec.max_tokens if self.chat_request.max_tokens is None else self.chat_request.max_tokens

    def _body(self, abilities: Abilities, first: int, count: int, **limit: int) -> bytes | Parts:
        """The client's body for the upstream's own model, without our fields."""
        changed: dict[str, Any] = {"model": self.source.model, **limit}
        if count > 1:
            changed["n"] = count
        if self.chat_request.seed is not None:
            changed["seed"] = self.chat_request.seed + first
        if self.spec.scored and abilities.logprobs and not self.chat_request.logprobs:
            changed |= {"logprobs": True, "top_logprobs": 1}
        if self._last_body[0] != changed:
            self._last_body = changed, self.chat_request.members.to_send(without=NOT_SENT, **changed)
        return self._last_body[1]
