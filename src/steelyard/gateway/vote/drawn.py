"""The samples of one request as they come, from one upstream or from several, and how the question stands by them.

What is counted goes by the numbers of the samples and the order of the sources, whoever came first: by the plan's
stopping rule, or by its cascade, which says whom to ask next.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from steelyard.gateway.messages.samples import Sample
from steelyard.gateway.upstream.replays import Replays
from steelyard.gateway.vote.counting import Counted, Counting
from steelyard.gateway.vote.drawing import Drawing
from steelyard.gateway.vote.policies import Policy
from steelyard.gateway.vote.running_ballot import RunningBallot
from steelyard.sampling.ask.ask import place_of, rule_applies
from steelyard.sampling.ask.ask_cascade import absent_samples, along
from steelyard.sampling.online.merged_streams import merged
from steelyard.sampling.online.standing import Standing
from steelyard.voting.methods.base.method import Method
from steelyard.voting.stopping.cascade import Cascade

DEADLINE = "the deadline was reached, so the vote is over the samples that came in time"
ALL = "all samples were drawn"

Watch = Callable[[Sample, Standing | None], None]


class Drawn:
    """Takes samples in, and knows which of them count."""

    def __init__(
        self,
        counting: Counting,
        policy: Policy,
        method: Method | None,
        drawings: Sequence[Drawing],
        cascade: Cascade | None = None,
        *,
        until: float,
    ) -> None:
        """`until`, by the monotonic clock, nobody waits for samples any more, nor for algebra about them."""
        self.until = until
        self.counting, self.policy, self.method, self.cascade = counting, policy, method, cascade
        self.drawings = {drawing.source.name: drawing for drawing in drawings}
        self.asked: list[str] = []  # the sources that were
        self.samples: list[Sample] = []
        self.fault: str | None = None  # of the verifier
        self.standing: Standing | None = None
        self._names = list(self.drawings)
        self._ballot = self._new_ballot()
        self._replays = Replays(take_back=cascade is None)

    @property
    def came(self) -> list[Sample]:
        """All samples by their numbers, also those that came after it was decided."""
        known = {(one.number, one.source) for one in self.samples}
        others = [one for drawing in self.drawings.values() for one in drawing.came]
        unseen = [one for one in others if (one.number, one.source) not in known]
        return sorted([*self.samples, *unseen], key=lambda one: (one.number, one.source))

    @property
    def counted(self) -> list[Counted]:
        """What the samples enter the vote with; without scores, where the verifier has failed on one.

        One of several sources that gave nothing at all does not vote.
        """
        here = {sample.source for sample in self.samples if sample.choice}
        silent = set() if self.cascade or self._names == [""] else set(self._names) - here
        return [
            self._counted(sample)
            for sample in self.samples
            if self.is_counted(sample) and sample.source not in silent
        ]  # fmt: skip

    def is_counted(self, sample: Sample) -> bool:
        """Whether a sample is among those that the rule went by; without a rule all are."""
        if self.cascade or self.standing is None or not self.standing.stop:
            return True
        return self._place(sample) < self.standing.samples

    async def all(self, watch: Watch) -> str:
        """Take samples until the rule, the cascade, the number or the time says stop; return why."""
        try:
            async with asyncio.timeout(self.until - time.monotonic()), aclosing(await self._coming()) as coming:
                async for sample in coming:
                    for changed in self._replays.sorted_out(sample):
                        await self._take(changed)
                        watch(changed, self.standing)
                    if self.standing and self.standing.stop:
                        return self.standing.why
        except TimeoutError:
            await self._settle(watch)
            return DEADLINE
        return ALL

    async def _coming(self) -> AsyncGenerator[Sample]:
        if not self.cascade or not self._ballot:
            return self._asking(list(self.drawings.values()))
        absent = absent_samples(self.cascade, self.drawings)
        self.standing = await self._ballot.add(*(Counted(number, name, None, None) for name, number in absent))
        return along(self._ballot, self.drawings, self._asking)

    def _asking(self, drawings: list[Drawing]) -> AsyncGenerator[Sample]:
        self.asked += [drawing.source.name for drawing in drawings]
        streams = [drawing.samples() for drawing in drawings]
        return merged(streams) if len(streams) > 1 else streams[0]

    async def _settle(self, watch: Watch) -> None:
        """At the deadline what came while others were counted counts too; a cascade goes on as if that were all."""
        taken = {(one.number, one.source) for one in self.samples}
        late = [one for one in self.came if (one.number, one.source) not in taken]
        changed = [each for one in late for each in self._replays.sorted_out(one)]
        again = {(one.number, one.source) for one in changed}
        self.samples = [one for one in self.samples if (one.number, one.source) not in again] + changed
        failed = self._unscored()
        self.fault = self.fault or (failed.unscored if failed else None)
        for one in changed:
            watch(one, self.standing)
        if not self.cascade or not self._ballot:
            return
        self.standing = await self._ballot.add(*(self._entry(one) for one in changed))
        came = {(sample.source, sample.number) for sample in self.samples}
        while now := self.standing.next:
            owed = [(name, number) for name in now for number in range(self.cascade.samples_of(name))]
            missing = [Counted(number, name, None, None) for name, number in owed if (name, number) not in came]
            self.standing = await self._ballot.add(*missing)

    async def _take(self, sample: Sample) -> None:
        """Take a sample in; where the verifier failed on one that the rule has to go by, count all without scores.

        A rule may stop before the number of that sample, whoever came first: until all before it are there it waits.
        """
        before = len(self.samples)
        self.samples = [one for one in self.samples if (one.number, one.source) != (sample.number, sample.source)]
        self.samples.append(sample)
        if len(self.samples) == before:
            await self._count_anew()
        elif self._ballot and (self.fault is not None or sample.unscored is None):
            self.standing = await self._ballot.add(self._entry(sample))
        if self.fault is None and not (self.standing and self.standing.stop):
            scored = {self._place(one) for one in self.samples if one.unscored is None}
            failed = self._unscored()
            if failed and (self._ballot is None or scored >= set(range(self._place(failed)))):
                await self._degrade(failed)

    async def _degrade(self, failed: Sample) -> None:
        """Count all anew without scores."""
        self.fault = failed.unscored
        await self._count_anew()

    async def _count_anew(self) -> None:
        self._ballot = ballot = self._new_ballot()
        if ballot:
            for each in self.samples:
                if self.fault is not None or each.unscored is None:
                    self.standing = await ballot.add(self._entry(each))

    def _unscored(self) -> Sample | None:
        """The first sample, by its place, that the verifier failed on."""
        return min((one for one in self.samples if one.unscored is not None), key=self._place, default=None)

    def _place(self, sample: Sample) -> int:
        return place_of(sample.number, sample.source, self._names)

    def _entry(self, sample: Sample) -> Counted:
        """What the ballot is given: with a cascade the source and its own number, else the place among all."""
        one = self._counted(sample)
        return one if self.cascade else one._replace(number=self._place(sample), source="")

    def _counted(self, sample: Sample) -> Counted:
        score = None if self.fault is not None else sample.score
        return Counted(sample.number, sample.source, self.policy.answer(sample), score)

    def _new_ballot(self) -> RunningBallot | None:
        by_ballot = self.method and (self.cascade or rule_applies(self.method))
        if not self.method or not by_ballot:
            return None
        return RunningBallot(self.counting, self.method, self.policy.kind, self.until)
