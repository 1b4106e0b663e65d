"""The job behind `steelyard generate`: requests every missing sample of a run, and stops cleanly."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Any

from steelyard.foundation.errors import SteelyardWarning, UpstreamError
from steelyard.runs.parameters import Abilities, Sampling
from steelyard.runs.run import Run
from steelyard.runs.source_share import Share
from steelyard.runs.token_usage import Usage
from steelyard.sampling.generate.generate_order import How
from steelyard.sampling.generate.one_request import Asker, Batch
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.llm.probe import probe
from steelyard.sampling.progress import Allowed, Progress
from steelyard.tables.prompts import Template

TICK = 0.2  # seconds
GRACE = 1.5  # seconds that requests under way have to finish after Ctrl-C


class Generate:
    """Fills a source's share of a run: `await Generate(..).work()`.

    `base` identifies the server in the run's notes; the embedded LLM has a new address each time it starts.
    `stop()` ends it early and saves what arrives within GRACE seconds.
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
        self.allowed = Allowed.of(how.max_failures, share.requested)
        self.progress = Progress(share.requested, share.done)
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
        """Request all missing samples; a finished run sends no request."""
        if next(self.share.missing(), None) is None:
            return self.progress
        limits = self.how.limits
        async with Client(self.address, try_timeout=limits.try_timeout) as client:
            probing = asyncio.create_task(self._find_abilities(client))
            await self._unless_stopped(probing)
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
            if asker.without_statistics:
                self._warn_without_statistics(asker.without_statistics)
        self.progress.under_way, self.progress.waiting = 0, 0.0
        self._watch(self.progress)
        return self.progress

    def _warn_without_statistics(self, samples: int) -> None:
        top = self.sampling.top_logprobs
        warnings.warn(
            f"{self.base} did not return the log-probabilities of the {top} most likely tokens of {samples:,} samples: "
            "they have no deepconf, self-certainty or entropy score; let the server return as many (vLLM: "
            f"--max-logprobs {top}), or request fewer with --top-logprobs",
            SteelyardWarning,
            stacklevel=2,
        )

    async def _find_abilities(self, client: Client) -> None:
        """Read from the run's notes, or probe, what the server supports."""
        key = self._abilities_key()
        self.abilities = noted_abilities(self.run, key)
        if self.abilities is not None:
            return
        patience = self.how.limits.sample_timeout
        self.abilities = await probe(
            client, self.sampling, max_n=key["wanted"], logprobs=self.how.logprobs, patience=patience
        )
        self.note(self.abilities)

    def _abilities_key(self) -> dict[str, Any]:
        """The server, model and kind of request that the abilities apply to."""
        how, sampling = self.how, self.sampling
        return abilities_key(self.base, sampling.model, sampling.n, fan_out=how.fan_out, logprobs=how.logprobs)

    def note(self, able: Abilities) -> None:
        """Note the abilities in the run, if they are new."""
        note = {"kind": "note", "note": "abilities", **self._abilities_key(), "abilities": asdict(able)}
        if note not in self.run.state.notes:
            self.run.add_now([note])

    async def _all(self, asker: Asker) -> None:
        """Start batches, a limited number at once; the first error ends them all."""
        slots = asyncio.Semaphore(2 * self.how.concurrency)  # some wait for the disk while others send

        async def settle(batch: Batch) -> None:
            try:
                await asker.settle(batch)
            finally:
                slots.release()

        try:
            async with asyncio.TaskGroup() as group:
                for batch in self._batches(asker):
                    await slots.acquire()
                    group.create_task(settle(batch))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    def _batches(self, asker: Asker) -> Iterator[Batch]:
        """Batches of consecutive samples, as many as one request may ask for; made lazily."""
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
                f"{progress.failed} of {progress.requested} samples failed, more than --max-failures "
                f"{self.allowed.text}; the last reason: {progress.reason}; the others are safe: fix it and run the "
                "same command again"
            )

    async def _tick(self, asker: Asker | None) -> None:
        """Report progress, a few times a second."""
        while True:
            if asker:
                self.progress.under_way, self.progress.waiting = asker.pace.under_way, asker.pace.closed_for
            self._watch(self.progress)
            await asyncio.sleep(TICK)

    async def _unless_stopped(self, task: asyncio.Task[None], asker: Asker | None = None) -> None:
        """Wait for a task; on a stop give requests under way GRACE seconds, then cancel it.

        An error of the progress callback stops it too, and is raised when all that arrived is saved.
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


def abilities_key(base: str, model: str, n: int, *, fan_out: bool, logprobs: bool) -> dict[str, Any]:
    """The server, the model and the kind of request that a note applies to."""
    return {"upstream": base, "model": model, "wanted": 1 if fan_out else n, "tried_logprobs": logprobs}


def noted_abilities(run: Run, key: dict[str, Any]) -> Abilities | None:
    """The abilities in the latest note with this key; None if there is no such note."""
    for note in reversed(run.state.notes):
        if note.get("note") == "abilities" and key.items() <= note.items():
            return Abilities(**note["abilities"])
    return None
