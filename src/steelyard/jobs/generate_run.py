"""From questions to a run full of samples: what `steelyard generate` does, and `sy.generate`."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from steelyard.answers.extract import check_kind
from steelyard.errors import SteelyardWarning
from steelyard.jobs.generate import Generate, How
from steelyard.jobs.interrupts import waits_for
from steelyard.jobs.progress import Allowed, Progress
from steelyard.jobs.request_batch import Limits
from steelyard.jobs.several_sources import SeveralSources, lost_sources
from steelyard.jobs.starting import started
from steelyard.llm.address import Address
from steelyard.llm.embedded import LOCAL
from steelyard.llm.named_upstreams import Named, Upstream, read_upstreams
from steelyard.llm.prompts import Template, read_template
from steelyard.llm.upstream import Serve, at_once, served
from steelyard.runs.fork import fork as forked
from steelyard.runs.manifest import Manifest
from steelyard.runs.parameters import Sampling
from steelyard.runs.run import Run
from steelyard.runs.source_share import Share
from steelyard.tables.questions.question_files import fingerprint, read_questions


async def agenerate(
    questions: str | Path,
    run: str | Path,
    *,
    upstream: Named,
    model: Named | None = None,
    n: int = 32,
    temperature: float = 0.7,
    top_p: float = 0.9,
    max_tokens: int = 2048,
    seed: int = 0,
    prompt: str | Path | None = None,
    answers: str | None = None,
    limit: int | None = None,
    concurrency: int = 64,
    fan_out: bool = False,
    logprobs: bool = True,
    retries: int = 2,
    try_timeout: float = 600.0,
    sample_timeout: float = 3600.0,
    max_failures: str | int = "10%",
    fork: str | Path | None = None,
    key_env: Named = "OPENAI_API_KEY",
    rename: dict[str, str] | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    serve: Serve = served,
) -> Progress:
    """Do as `generate` does, in async code. When it is cancelled it saves what arrives within a moment.

    >>> import asyncio, polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = asyncio.run(sy.agenerate("questions.jsonl", "run", upstream=upstream, model="m", n=4))
    >>> made.done, made.failed
    (8, 0)
    """
    upstreams = read_upstreams(upstream, model, key_env, n)
    first = Sampling(upstreams[0].model, n, temperature, top_p, max_tokens, seed)
    how = How(
        concurrency, fan_out=fan_out, logprobs=logprobs, limits=Limits(retries, try_timeout, sample_timeout),
        max_failures=max_failures,
    )  # fmt: skip
    found = read_questions(questions, rename=rename, limit=limit)
    template = read_template(found.prompt if prompt is None else prompt)
    kind = check_kind(template.answers if answers is None else answers)
    if temperature == 0 and n > 1:
        what = f"at temperature 0 the {n} samples of a question will be much the same: sample at 0.7, or -n 1"
        warnings.warn(what, SteelyardWarning, stacklevel=2)
    Allowed.of(max_failures, 1)  # a mistake in it is said before anything is made
    for each in upstreams:
        each.check()
    sources = {each.name: {"model": each.model, "upstream": each.url} for each in upstreams if each.name}
    alone = None if sources else upstreams[0]
    manifest = Manifest(
        fingerprint(found.table), alone.model if alone else "", n, seed, template.text,
        {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens},
        kind, alone.url if alone else "", Path(questions).name, sources=sources,
    )  # fmt: skip
    folder = Path(run)
    if fork is None:
        filling = Run.start(folder, manifest, found.table)
    else:
        filling = forked(folder, Path(fork), manifest, found.table)
    made = Progress(filling.wanted, filling.wanted)
    try:
        with filling as opened:
            async with AsyncExitStack() as servers:
                job = await _begun(
                    opened, upstreams, partial(_generate, first, template, how), servers, serve, progress
                )
                if job:
                    made = job.progress
                    await _worked(job)
            opened.write_table()
    finally:  # what the run holds is known from memory; once it is closed, all that waited is on the disk
        samples = filling.state.samples
        made.held, made.reasons = len(samples.done), samples.reasons
    if made.lost:
        raise lost_sources(made.lost, len(upstreams))
    return made


@waits_for(agenerate)
def generate() -> None:
    """Sample an LLM n times per question into the folder `run`; the same call again goes on where it was stopped.

    `questions` is a file with `question`, `prompt` and, where it is known, `gold`, or the name of a published set;
    `upstream` the address of an OpenAI-compatible server, or "local", or several by name: {"a": URL, "b": URL}, with
    `model` and `key_env` by name too; n is then that of each, and one that is lost leaves the others going and is an
    UpstreamError in the end. `fork` starts a run with these settings in
    another folder and takes along what it shares with `run`. `progress` hears where the work stands, a few times
    a second; `serve` opens the server. A finished run asks nobody. Ctrl-C saves what arrives within a moment and
    comes out as KeyboardInterrupt. The options are those of `steelyard generate`.

    >>> import polars as pl, steelyard as sy
    >>> sy.write(pl.DataFrame({"question": ["a", "b"], "prompt": ["1 + 1?", "1 + 2?"]}), "questions.jsonl")
    >>> made = sy.generate("questions.jsonl", "run", upstream=upstream, model="m", n=4)
    >>> made.done, made.failed
    (8, 0)
    >>> sy.read("run", score="self_logprob")
    Pool(2 questions, 8 responses, 0 unreadable, score self_logprob)
    """


def _generate(
    first: Sampling,
    template: Template,
    how: How,
    share: Share,
    upstream: Upstream,
    address: Address,
    watch: Callable[[Progress], None],
) -> Generate:
    """The work on the share of one upstream, with its model and no more requests than it can take."""
    own = replace(how, concurrency=at_once(upstream.url, 1 if how.fan_out else first.n, how.concurrency))
    return Generate(share, address, replace(first, model=upstream.model), template, own, watch)


async def _begun(
    run: Run,
    upstreams: tuple[Upstream, ...],
    make: Callable[[Share, Upstream, Address, Callable[[Progress], None]], Generate],
    servers: AsyncExitStack,
    serve: Serve,
    progress: Callable[[Progress], None],
) -> Generate | SeveralSources | None:
    """Open the servers of what is missing; None: nothing is. The embedded LLM, which takes seconds, comes first."""
    missing = [(each, share) for each in upstreams if next((share := Share(run, each.name)).missing(), None)]
    if not missing:
        return None
    several = SeveralSources(run, progress)
    for each, share in sorted(missing, key=lambda pair: pair[0].url != LOCAL):
        address = await servers.enter_async_context(started(serve, each.url, each.key_env))
        if not each.name:
            return make(share, each, address, progress)
        several.add(each.name, make(share, each, address, several.tell))
    return several


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


__test__ = {"generate": generate}  # a decorated function is not looked into otherwise
