"""The samples of one request, from one or several upstreams, and the state of the vote as they arrive.

Which samples count depends on their numbers and the order of the sources, not on the order of arrival: the plan's
stopping rule decides, or its cascade, which also says which source is next.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from steelyard.gateway.upstream.samples import Replays, Sample
from steelyard.gateway.vote.policies import Policy
from steelyard.gateway.vote.sample_request import SampleRequest
from steelyard.gateway.vote.vote_counter import RunningBallot, VoteCounter, VoteEntry
from steelyard.sampling.ask.ask_cascade import absent_samples, along
from steelyard.sampling.ask.sample_stream import merged
from steelyard.sampling.ask.sample_votes import place_of, rule_applies
from steelyard.sampling.online.cascade_walk import BallotState
from steelyard.voting.methods.base.method import Method
from steelyard.voting.stopping.cascade import Cascade

DEADLINE = "the deadline was reached, so only the samples that arrived in time were counted"
ALL = "all samples were drawn"
Watch = Callable[[Sample, BallotState | None], None]


class SampleSet:
    """Collects samples, and decides which of them count."""

    def __init__(
        self,
        counter: VoteCounter,
        policy: Policy,
        method: Method | None,
        requests: Sequence[SampleRequest],
        cascade: Cascade | None = None,
        *,
        until: float,
    ) -> None:
        """`until`: the deadline for samples and for comparing their answers, by the monotonic clock."""
        self.until = until
        self.counter, self.policy, self.method, self.cascade = counter, policy, method, cascade
        self.requests = {request.source.name: request for request in requests}
        self.requested_sources: list[str] = []
        self.samples: list[Sample] = []
        self.fault: str | None = None  # of the verifier
        self.state: BallotState | None = None
        self._names = list(self.requests)
        self._ballot = self._new_ballot()
        self._replays = Replays(take_back=cascade is None)

    @property
    def received(self) -> list[Sample]:
        """All samples by number, also those that arrived after the decision."""
        seen = {(one.number, one.source) for one in self.samples}
        others = [one for request in self.requests.values() for one in request.received]
        unseen = [one for one in others if (one.number, one.source) not in seen]
        return sorted([*self.samples, *unseen], key=lambda one: (one.number, one.source))

    def entries(self, policy: Policy) -> list[VoteEntry]:
        """The entries of the vote; without scores if the verifier has failed on a sample.

        If there are several sources, those that gave no sample at all do not vote.
        """
        answered = {sample.source for sample in self.samples if sample.choice}
        silent = set() if self.cascade or self._names == [""] else set(self._names) - answered
        return [
            self._entry_of(sample, policy)
            for sample in self.samples
            if self.is_counted(sample) and sample.source not in silent
        ]  # fmt: skip

    def is_counted(self, sample: Sample) -> bool:
        """Whether the stopping rule counted a sample; without a rule all count."""
        if self.cascade or self.state is None or not self.state.stop:
            return True
        return self._place(sample) < self.state.samples

    async def all(self, watch: Watch) -> str:
        """Collect samples until the rule, the cascade, the number or the deadline ends it; return why."""
        try:
            async with asyncio.timeout(self.until - time.monotonic()), aclosing(await self._stream()) as stream:
                async for sample in stream:
                    for changed in self._replays.resolve(sample):
                        await self._add(changed)
                        watch(changed, self.state)
                    if self.state and self.state.stop:
                        return self.state.why
        except TimeoutError:
            await self._settle(watch)
            return DEADLINE
        return ALL

    async def _stream(self) -> AsyncGenerator[Sample]:
        ballot = self._ballot
        if not self.cascade or not ballot:
            return self._start(list(self.requests.values()))
        absent = absent_samples(self.cascade, self.requests)
        self.state = await ballot.add(*(VoteEntry(number, name, None, None) for name, number in absent))
        return along(lambda: ballot.state.next, self.requests, self._start)

    def _start(self, requests: list[SampleRequest]) -> AsyncGenerator[Sample]:
        self.requested_sources += [request.source.name for request in requests]
        streams = [request.samples() for request in requests]
        return merged(streams) if len(streams) > 1 else streams[0]

    async def _settle(self, watch: Watch) -> None:
        """Add samples that arrived while others were counted; a cascade continues as if there were no more."""
        seen = {(one.number, one.source) for one in self.samples}
        late = [one for one in self.received if (one.number, one.source) not in seen]
        changed = [sample for one in late for sample in self._replays.resolve(one)]
        again = {(one.number, one.source) for one in changed}
        self.samples = [one for one in self.samples if (one.number, one.source) not in again] + changed
        failed = self._unscored()
        self.fault = self.fault or (failed.unscored if failed else None)
        for one in changed:
            watch(one, self.state)
        if not self.cascade or not self._ballot:
            return
        self.state = await self._ballot.add(*(self._entry(one) for one in changed))
        received = {(sample.source, sample.number) for sample in self.samples}
        while now := self.state.next:
            expected = [(name, number) for name in now for number in range(self.cascade.samples_of(name))]
            missing = [
                VoteEntry(number, name, None, None) for name, number in expected if (name, number) not in received
            ]
            self.state = await self._ballot.add(*missing)

    async def _add(self, sample: Sample) -> None:
        """Add a sample; if the verifier failed on one that the rule needs, count all without scores.

        The rule may stop before the number of that sample, so all samples with lower numbers are awaited first.
        """
        before = len(self.samples)
        self.samples = [one for one in self.samples if (one.number, one.source) != (sample.number, sample.source)]
        self.samples.append(sample)
        if len(self.samples) == before:
            await self._recount()
        elif self._ballot and (self.fault is not None or sample.unscored is None):
            self.state = await self._ballot.add(self._entry(sample))
        if self.fault is None and not (self.state and self.state.stop):
            scored = {self._place(one) for one in self.samples if one.unscored is None}
            failed = self._unscored()
            if failed and (self._ballot is None or scored >= set(range(self._place(failed)))):
                self.fault = failed.unscored
                await self._recount()

    async def _recount(self) -> None:
        self._ballot = ballot = self._new_ballot()
        if ballot:
            for sample in self.samples:
                if self.fault is not None or sample.unscored is None:
                    self.state = await ballot.add(self._entry(sample))

    def _unscored(self) -> Sample | None:
        """The first sample, by place, that the verifier failed on."""
        return min((one for one in self.samples if one.unscored is not None), key=self._place, default=None)

    def _place(self, sample: Sample) -> int:
        return place_of(sample.number, sample.source, self._names)

    def _entry(self, sample: Sample) -> VoteEntry:
        """The entry of the ballot: with a cascade the source and its own number, else the place among all samples."""
        one = self._entry_of(sample, self.policy)
        return one if self.cascade else one._replace(number=self._place(sample), source="")

    def _entry_of(self, sample: Sample, policy: Policy) -> VoteEntry:
        score = None if self.fault is not None else sample.score
        return VoteEntry(sample.number, sample.source, policy.answer(sample), score)

    def _new_ballot(self) -> RunningBallot | None:
        by_ballot = self.method and (self.cascade or rule_applies(self.method))
        if not self.method or not by_ballot:
            return None
        return RunningBallot(self.counter, self.method, self.policy.kind, self.until, self.policy.texts)
