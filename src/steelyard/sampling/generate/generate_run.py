"""Fills a run with samples of questions: `steelyard generate` and `sy.generate`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from steelyard.foundation.errors import SettingError, UpstreamError
from steelyard.runs.fork import fork as forked
from steelyard.runs.parts import is_parted_run
from steelyard.runs.run import Run
from steelyard.runs.source_share import Share
from steelyard.sampling.generate.generate import Generate
from steelyard.sampling.generate.generate_order import GenerateOptions, GenerateOrder, read_order, show_options
from steelyard.sampling.interrupts import waits_for
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.upstreams import Serve, Upstream, at_once, served, started
from steelyard.sampling.progress import Progress


@show_options
async def agenerate(
    questions: str | Path,
    run: str | Path,
    *,
    fork: str | Path | None = None,
    probe: int | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    serve: Serve = served,
    **options: Unpack[GenerateOptions],
) -> Progress:
    """The async form of `generate`. When it is cancelled, it saves what arrives within a moment.

    >>> import asyncio, polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = asyncio.run(sy.agenerate("questions.jsonl", "run", upstream=upstream, model="m", n=4))
    >>> made.done, made.failed
    (8, 0)
    """
    order, table = read_order(questions, **options)
    folder = Path(run)
    if is_parted_run(folder):
        raise SettingError(f"{folder} is a run in parts: continue it with the --engine that started it")
    if fork is None:
        opened = Run.start(folder, order.manifest, table)
    else:
        opened = forked(folder, Path(fork), order.manifest, table)
    return await fill(opened, order, progress, serve, probe)


@waits_for(agenerate)
def generate() -> None:
    """Sample an LLM n times per question into the folder `run`; the same call again resumes an interrupted one.

    `questions` is a file with `question`, `prompt` and optionally `gold`, or the name of a published set. `upstream` is
    the address of an OpenAI-compatible server, or "local", or several by name: {"a": URL, "b": URL}, with `model` and
    `key_env` by name too; each is then sampled n times, and if one fails, the others finish before the UpstreamError.

    `fork` starts a run with these settings in another folder, with a copy of the samples that it shares with `run`.
    `probe` samples only that many questions; the same call without it continues from there. `progress` is called a few
    times a second; `serve` opens the server. A finished run sends no request. Ctrl-C saves what arrives within a moment
    and raises KeyboardInterrupt. The options are those of `steelyard generate`.

    >>> import polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = sy.generate("questions.jsonl", "run", upstream=upstream, model="m", n=4)
    >>> made.done, made.failed
    (8, 0)
    >>> sy.read("run", score="self_logprob")
    Pool(2 questions, 8 responses, 0 unreadable, score self_logprob)
    """


async def fill(
    run: Run, order: GenerateOrder, progress: Callable[[Progress], None], serve: Serve, first: int | None = None
) -> Progress:
    """Request all missing samples of a run, write its table and close it; return the final progress.

    With `first` only that many questions are sampled.
    """
    made = Progress(run.requested, run.requested)
    try:
        with run as opened:
            async with AsyncExitStack() as servers:
                job = await _open_servers(opened, order, servers, serve, progress, first)
                if job:
                    made = job.progress
                    await _finish(job)
            opened.write_table()
    finally:  # the state in memory is also on the disk once the run is closed
        samples = run.state.samples
        made.held, made.reasons = len(samples.done), samples.reasons
    if made.lost:
        raise lost_sources(made.lost, len(order.upstreams))
    return made


async def _open_servers(
    run: Run,
    order: GenerateOrder,
    servers: AsyncExitStack,
    serve: Serve,
    progress: Callable[[Progress], None],
    first: int | None,
) -> Generate | SeveralSources | None:
    """Open the servers with missing samples, the embedded LLM first, which takes seconds; None: nothing is missing."""
    shares = [(upstream, Share(run, upstream.name, first)) for upstream in order.upstreams]
    missing = [(upstream, share) for upstream, share in shares if next(share.missing(), None)]
    if not missing:
        return None
    several = SeveralSources(run, progress)
    for upstream, share in sorted(missing, key=lambda pair: pair[0].url != LOCAL):
        address = await servers.enter_async_context(started(serve, upstream.url, upstream.key_env))
        if not upstream.name:
            return _generate(order, share, upstream, address, progress)
        several.add(upstream.name, _generate(order, share, upstream, address, several.report))
    return several


def _generate(
    order: GenerateOrder, share: Share, upstream: Upstream, address: Address, watch: Callable[[Progress], None]
) -> Generate:
    """The job for the share of one upstream, with its model and its limit of concurrent requests."""
    n, how = order.sampling.n, order.how
    own = replace(how, concurrency=at_once(upstream.url, 1 if how.fan_out else n, how.concurrency))
    sampling = replace(order.sampling, model=upstream.model)
    return Generate(share, address, sampling, order.template, own, upstream.base, watch)


async def _finish(job: Generate | SeveralSources) -> None:
    """Run a job; when cancelled, wait a moment for requests under way. If nothing is missing then, it is a success."""
    work = asyncio.ensure_future(job.work())
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        job.stop()
        await work
        if next(job.run.missing(), None) is not None:
            raise


class SeveralSources:
    """One `Generate` per source, all at once, each at its own pace; a source that fails leaves the others running."""

    def __init__(self, run: Run, watch: Callable[[Progress], None]) -> None:
        self.run = run
        self.progress = Progress(run.requested, len(run.state.samples.done))
        self._jobs: dict[str, Generate] = {}
        self._watch = watch

    def add(self, name: str, job: Generate) -> None:
        """Add the job of one source, whose progress callback is `report`."""
        self._jobs[name] = job
        self.progress.parts[name] = job.progress

    async def work(self) -> Progress:
        """Run all jobs; the error of a source that failed is in `progress.lost`. Any other error ends them all."""
        tasks = {asyncio.create_task(job.work()): name for name, job in self._jobs.items()}
        wrong: BaseException | None = None
        left = set(tasks)
        while left:
            done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                error = task.exception()
                if isinstance(error, UpstreamError):
                    self.progress.lost[tasks[task]] = str(error)
                elif error is not None:
                    wrong = wrong or error
                    self.stop()
        self._add_up()
        if wrong is not None:
            raise wrong
        return self.progress

    def stop(self) -> None:
        """End all jobs early."""
        for job in self._jobs.values():
            job.stop()

    def report(self, _: Progress) -> None:
        """Report the total progress when that of one source has changed."""
        self._add_up()
        self._watch(self.progress)

    def _add_up(self) -> None:
        """Sum up the progress; the total waits only if every unfinished source does."""
        total, parts = self.progress, self.progress.parts
        for name in ("done", "failed", "tokens", "under_way"):
            setattr(total, name, sum(getattr(part, name) for part in parts.values()))
        total.spent = {name: usage for part in parts.values() for name, usage in part.spent.items()}
        running = [part for name, part in parts.items() if part.seconds_left != 0 and name not in total.lost]
        total.waiting = min((part.waiting for part in running), default=0.0)


def lost_sources(lost: Mapping[str, str], sources: int) -> UpstreamError:
    """The error of a run with failed upstreams."""
    which = f"{len(lost)} of {sources} upstreams could not go on; " if len(lost) > 1 else ""
    return UpstreamError(which + "; ".join(f"{name}: {why}" for name, why in lost.items()))


__test__ = {"generate": generate}  # doctest does not find decorated functions by itself
