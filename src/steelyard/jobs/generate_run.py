"""From questions to a run full of samples: what `steelyard generate` does, and `sy.generate`."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from pathlib import Path

from steelyard.answers.extract import check_kind
from steelyard.errors import SteelyardWarning
from steelyard.jobs.generate import Generate, How
from steelyard.jobs.interrupts import waits_for
from steelyard.jobs.progress import Allowed, Progress
from steelyard.jobs.request_batch import Limits
from steelyard.jobs.starting import started
from steelyard.llm.prompts import read_template
from steelyard.llm.upstream import Serve, at_once, check_upstream, model_name, served
from steelyard.runs.fork import fork as forked
from steelyard.runs.manifest import Manifest
from steelyard.runs.parameters import Sampling
from steelyard.runs.run import Run
from steelyard.tables.questions.question_files import fingerprint, read_questions


async def agenerate(
    questions: str | Path,
    run: str | Path,
    *,
    upstream: str,
    model: str | None = None,
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
    key_env: str = "OPENAI_API_KEY",
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
    sampling = Sampling(model_name(upstream, model), n, temperature, top_p, max_tokens, seed)
    how = How(
        at_once(upstream, 1 if fan_out else n, concurrency), fan_out=fan_out, logprobs=logprobs,
        limits=Limits(retries, try_timeout, sample_timeout), max_failures=max_failures,
    )  # fmt: skip
    found = read_questions(questions, rename=rename, limit=limit)
    template = read_template(found.prompt if prompt is None else prompt)
    kind = check_kind(template.answers if answers is None else answers)
    if temperature == 0 and n > 1:
        what = f"at temperature 0 the {n} samples of a question will be much the same: sample at 0.7, or -n 1"
        warnings.warn(what, SteelyardWarning, stacklevel=2)
    Allowed.of(max_failures, 1)  # a mistake in it is said before anything is made
    check_upstream(upstream, key_env)
    manifest = Manifest(
        fingerprint(found.table), sampling.model, n, seed, template.text,
        {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens},
        kind, upstream, Path(questions).name,
    )  # fmt: skip
    folder = Path(run)
    if fork is None:
        filling = Run.start(folder, manifest, found.table)
    else:
        filling = forked(folder, Path(fork), manifest, found.table)
    made = Progress(filling.wanted, filling.wanted)
    try:
        with filling as opened:
            if next(opened.missing(), None) is not None:
                async with started(serve, upstream, key_env) as address:
                    job = Generate(opened, address, sampling, template, how, progress)
                    made = job.progress
                    await _worked(job)
            opened.write_table()
    finally:  # what the run holds is known from memory; once it is closed, all that waited is on the disk
        samples = filling.state.samples
        made.held, made.reasons = len(samples.done), samples.reasons
    return made


@waits_for(agenerate)
def generate() -> None:
    """Sample an LLM n times per question into the folder `run`; the same call again goes on where it was stopped.

    `questions` is a file with `question`, `prompt` and, where it is known, `gold`, or the name of a published set;
    `upstream` the address of an OpenAI-compatible server, or "local". `fork` starts a run with these settings in
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


async def _worked(job: Generate) -> None:
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
