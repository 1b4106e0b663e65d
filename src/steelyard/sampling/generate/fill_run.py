"""An open run is filled with the samples that it misses, from one upstream or several, and closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace

from steelyard.runs.run import Run
from steelyard.runs.source_share import Share
from steelyard.sampling.generate.generate import Generate
from steelyard.sampling.generate.generate_order import GenerateOrder
from steelyard.sampling.generate.several_sources import SeveralSources, lost_sources
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.named_upstreams import Upstream
from steelyard.sampling.llm.upstream import Serve, at_once
from steelyard.sampling.progress import Progress
from steelyard.sampling.starting import started


async def fill(
    run: Run, order: GenerateOrder, progress: Callable[[Progress], None], serve: Serve, first: int | None = None
) -> Progress:
    """Ask for all that a run misses, derive its table and close it; say what was done.

    With `first` only so many questions are asked for.
    """
    made = Progress(run.wanted, run.wanted)
    try:
        with run as opened:
            async with AsyncExitStack() as servers:
                job = await _begun(opened, order, servers, serve, progress, first)
                if job:
                    made = job.progress
                    await _worked(job)
            opened.write_table()
    finally:  # what the run holds is known from memory; once it is closed, all that waited is on the disk
        samples = run.state.samples
        made.held, made.reasons = len(samples.done), samples.reasons
    if made.lost:
        raise lost_sources(made.lost, len(order.upstreams))
    return made


async def _begun(
    run: Run,
    order: GenerateOrder,
    servers: AsyncExitStack,
    serve: Serve,
    progress: Callable[[Progress], None],
    first: int | None,
) -> Generate | SeveralSources | None:
    """Open the servers of what is missing; None: nothing is. The embedded LLM, which takes seconds, comes first."""
    shares = [(each, Share(run, each.name, first)) for each in order.upstreams]
    missing = [(each, share) for each, share in shares if next(share.missing(), None)]
    if not missing:
        return None
    several = SeveralSources(run, progress)
    for each, share in sorted(missing, key=lambda pair: pair[0].url != LOCAL):
        address = await servers.enter_async_context(started(serve, each.url, each.key_env))
        if not each.name:
            return _generate(order, share, each, address, progress)
        several.add(each.name, _generate(order, share, each, address, several.tell))
    return several


def _generate(
    order: GenerateOrder, share: Share, upstream: Upstream, address: Address, watch: Callable[[Progress], None]
) -> Generate:
    """The work on the share of one upstream, with its model and no more requests than it can take."""
    n, how = order.sampling.n, order.how
    own = replace(how, concurrency=at_once(upstream.url, 1 if how.fan_out else n, how.concurrency))
    sampling = replace(order.sampling, model=upstream.model)
    return Generate(share, address, sampling, order.template, own, upstream.base, watch)


async def _worked(job: Generate | SeveralSources) -> None:
    """Work; when cancelled, let what is under way arrive for a moment. If that was the last, there is no harm done."""
    work = asyncio.ensure_future(job.work())
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        job.stop()
        await work
        if next(job.run.missing(), None) is not None:
            raise
