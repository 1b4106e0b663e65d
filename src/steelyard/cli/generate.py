"""steelyard generate: sample an LLM n times per question, into a run that survives interruptions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import show
from steelyard.cli.options import Json, KeyEnv, Model, Rename, UpstreamUrl, renames

EXAMPLE = (
    "Example: steelyard generate questions.jsonl --upstream http://127.0.0.1:8000/v1 --model my-model -n 32 -o run"
)


def run(
    questions: Annotated[
        str,
        typer.Argument(
            help="Questions: .jsonl, .parquet or .csv with question, prompt, gold; or MATH, MATH-500, GSM8K, MMLU-Pro.",
            show_default=False,
        ),
    ],
    upstream: UpstreamUrl,
    output: Annotated[Path, typer.Option("-o", "--output", help="The run's folder.", show_default=False)],
    model: Model = None,
    n: Annotated[int, typer.Option("-n", "--samples", help="Samples per question.")] = 32,
    temperature: Annotated[float, typer.Option(help="Temperature of the samples.")] = 0.7,
    top_p: Annotated[float, typer.Option(help="Share of the probability that is sampled from.")] = 0.9,
    max_tokens: Annotated[int, typer.Option(help="Most tokens per sample.")] = 2048,
    seed: Annotated[int, typer.Option(help="Sample i of a question has the seed SEED + i.")] = 0,
    prompt: Annotated[
        str | None,
        typer.Option(
            help="math, choice, plain, or a file with {prompt} in it. Default: what suits.", show_default=False
        ),
    ] = None,
    answers: Annotated[
        str | None, typer.Option(help="Kind of answer to read. Default: what the prompt asks for.", show_default=False)
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Take the first so many questions.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Most requests at once; it finds its own pace.")] = 64,
    fan_out: Annotated[
        bool, typer.Option("--fan-out", help="One request per sample, so that every seed is exact on any server.")
    ] = False,
    logprobs: Annotated[bool, typer.Option(help="Ask for log-probabilities, if the server has them.")] = True,
    retries: Annotated[int, typer.Option(min=0, help="Tries after the first; waiting for a busy server is none.")] = 2,
    try_timeout: Annotated[float, typer.Option(min=0.01, help="Seconds for one try.")] = 600.0,
    sample_timeout: Annotated[float, typer.Option(min=0.01, help="Seconds for a sample with all its tries.")] = 3600.0,
    max_failures: Annotated[str, typer.Option(help="Stop after more failures: a number, or a share as 1%.")] = "10%",
    fork: Annotated[
        Path | None,
        typer.Option(help="Start a run with these settings here instead; what it shares with RUN is taken along."),
    ] = None,
    key_env: KeyEnv = "OPENAI_API_KEY",
    rename: Rename = None,
    json: Json = False,
) -> None:
    """Sample an LLM n times per question; the same command again goes on where it was stopped."""
    from steelyard.cli.generating import tell
    from steelyard.cli.live_progress import live
    from steelyard.cli.server_options import Shown
    from steelyard.jobs.generate_run import generate

    shown, stopped = Shown(lambda: live("Sampling")), False
    try:
        progress = generate(
            questions, output, upstream=upstream, model=model, n=n, temperature=temperature, top_p=top_p,
            max_tokens=max_tokens, seed=seed, prompt=prompt, answers=answers, limit=limit, concurrency=concurrency,
            fan_out=fan_out, logprobs=logprobs, retries=retries, try_timeout=try_timeout,
            sample_timeout=sample_timeout, max_failures=max_failures, fork=fork, key_env=key_env,
            rename=renames(rename), progress=shown.progress, serve=shown.serve,
        )  # fmt: skip
    except KeyboardInterrupt:
        if shown.last is None:
            raise
        progress, stopped = shown.last, True
    tell(fork or output, progress, stopped, json)
    if stopped:
        show.say()
        raise typer.Exit(130)
