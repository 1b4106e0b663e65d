"""The job behind `steelyard generate`: ask for every sample a run still misses, and stop well when told to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from steelyard.foundation.errors import SettingError, UpstreamError, need_numbers
from steelyard.runs.parameters import Abilities, Sampling
from steelyard.runs.source_share import Share
from steelyard.runs.usage import Usage
from steelyard.sampling.generate.noted_abilities import abilities_key, noted_abilities
from steelyard.sampling.generate.one_request import Asker
from steelyard.sampling.generate.request_batch import Batch, Limits
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.pace import START, Pace
from steelyard.sampling.llm.probe import probe
from steelyard.sampling.progress import Allowed, Progress
from steelyard.tables.prompts import Template

TICK = 0.2  # seconds
GRACE = 1.5  # seconds that requests under way are given to arrive after Ctrl-C


@dataclass(frozen=True)
class How:
    """How to ask, as opposed to what for: nothing here changes what a sample is."""

    concurrency: int = 64
    start: int = START
    fan_out: bool = False
    logprobs: bool = True
    limits: Limits = field(default_factory=Limits)
    max_failures: str | int = "10%"

    def __post_init__(self) -> None:
        """Refuse what would never begin."""
        need_numbers(concurrency=self.concurrency)
        least = min(self.concurrency, self.start)
        if least < 1:
            raise SettingError(f"cannot have {least} requests at once: --concurrency is at least 1")


class Generate:
    """One go at a source's share of a run: `await Generate(..).work()`.

    `base` identifies the server in the run's notes; the embedded LLM has a new address each time it starts.
    `stop()` ends it early and saves what arrives within a moment.
    """

    def __init__(
        self,
        share: Share,
        address: Address,
        sampling: Sampling,
        template: Template,
        how: How,
        base: str,
        watch: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self.share, self.run, self.base = share, share.run, base
        self.address, self.sampling, self.template, self.how = address, sampling, template, how
        self.allowed = Allowed.of(how.max_failures, share.wanted)
        self.progress = Progress(share.wanted, share.done)
        self.abilities: Abilities | None = None
        self._watch = watch
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """End the work early."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    async def work(self) -> Progress:
        """Ask for all that is missing; a finished run asks nothing."""
        if next(self.share.missing(), None) is None:
            return self.progress
        limits = self.how.limits
        async with Client(self.address, try_timeout=limits.try_timeout) as client:
            finding = asyncio.create_task(self._find(client))
            await self._unless_stopped(finding)
            if self.stopped or self.abilities is None:
                return self.progress
            pace = Pace(self.how.concurrency, start=self.how.start)
            asker = Asker(
                self.share, client, self.sampling, self.abilities,
                pace=pace, limits=limits, settled=self._settled,
            )  # fmt: skip
            self.progress.began = time.monotonic()
            working = asyncio.create_task(self._all(asker))
            await self._unless_stopped(working, asker)
            self.note(asker.abilities)
        self.progress.under_way, self.progress.waiting = 0, 0.0
        self._watch(self.progress)
        return self.progress

    async def _find(self, client: Client) -> None:
        """What the server can do: as found before, or by asking it."""
        about = self._about()
        self.abilities = noted_abilities(self.run, about)
        if self.abilities is not None:
            return
        patience = self.how.limits.sample_timeout
        self.abilities = await probe(
            client, self.sampling, wanted=about["wanted"], logprobs=self.how.logprobs, patience=patience
        )
        self.note(self.abilities)

    def _about(self) -> dict[str, Any]:
        """What a finding holds for."""
        how, sampling = self.how, self.sampling
        return abilities_key(self.base, sampling.model, sampling.n, fan_out=how.fan_out, logprobs=how.logprobs)

    def note(self, able: Abilities) -> None:
        """Write down what was found, if it is new."""
        note = {"kind": "note", "note": "abilities", **self._about(), "abilities": asdict(able)}
        if note not in self.run.state.notes:
            self.run.add_now([note])

    async def _all(self, asker: Asker) -> None:
        """Start batches as there is room for them; the first thing that cannot be lived with ends them all."""
        room = asyncio.Semaphore(2 * self.how.concurrency)  # some wait for the disk while others ask

        async def settle(batch: Batch) -> None:
            try:
                await asker.settle(batch)
            finally:
                room.release()

        try:
            async with asyncio.TaskGroup() as group:
                for batch in self._batches(asker):
                    await room.acquire()
                    group.create_task(settle(batch))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    def _batches(self, asker: Asker) -> Iterator[Batch]:
        """Samples that follow each other, as many as one request may ask for; made as they are taken."""
        prompts = dict(self.run.questions.select("question", "prompt").iter_rows())
        for question, keys in groupby(self.share.missing(), key=lambda key: key[0]):
            prompt = self.template.fill(prompts[question])
            samples = [sample for _, sample in keys]
            while samples:
                count = 1
                while count < min(asker.most, len(samples)) and samples[count] == samples[0] + count:
                    count += 1
                yield Batch(question, prompt, samples[0], count, time.monotonic())
                samples = samples[count:]

    def _settled(self, done: int, failed: int, tokens: int, reason: str, usage: Usage) -> None:
        progress = self.progress
        progress.spent[self.share.source] = progress.spent.get(self.share.source, Usage()) + usage
        progress.done += done
        progress.failed += failed
        progress.tokens += tokens
        progress.reason = reason or progress.reason
        if progress.failed > self.allowed.count:
            raise UpstreamError(
                f"{progress.failed} of {progress.wanted} samples failed, more than --max-failures {self.allowed.text}; "
                f"the last reason: {progress.reason}; the others are safe: fix it and run the same command again"
            )

    async def _tick(self, asker: Asker | None) -> None:
        """Tell the watcher where the work stands, a few times a second."""
        while True:
            if asker:
                self.progress.under_way, self.progress.waiting = asker.pace.under_way, asker.pace.closed_for
            self._watch(self.progress)
            await asyncio.sleep(TICK)

    async def _unless_stopped(self, task: asyncio.Task[None], asker: Asker | None = None) -> None:
        """Wait for a task; when told to stop, let what is under way arrive for a moment, then end it.

        A watcher that raises an error stops it likewise, and the error is raised when all that arrived is saved.
        """
        waiting = asyncio.create_task(self._stop.wait())
        ticking = asyncio.create_task(self._tick(asker))
        try:
            await asyncio.wait({task, waiting, ticking}, return_when=asyncio.FIRST_COMPLETED)
            end = time.monotonic() + GRACE
            if asker:
                asker.pace.close()
            while asker and not task.done() and (asker.pace.under_way or asker.saving) and time.monotonic() < end:
                await asyncio.sleep(0.02)
        finally:
            waiting.cancel()
            ticking.cancel()
            if not task.done():
                task.cancel()
        await asyncio.wait({ticking})
        wrong = None if ticking.cancelled() else ticking.exception()
        try:
            await task
        except asyncio.CancelledError:
            if not self.stopped and wrong is None:
                raise
        if wrong is not None:
            raise wrong
