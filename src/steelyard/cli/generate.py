"""steelyard generate: sample an LLM n times per question, into a run that survives interruptions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from steelyard.cli.completion import complete_prompt
from steelyard.cli.engine_options import EngineName, WorkerRange
from steelyard.cli.options import ANSWERS_BY_PROMPT, SEED, Json, Rename, n_option, output_option, renames, without_none
from steelyard.cli.sampling_options import (
    PROMPT,
    ConfirmAbove,
    DryRun,
    KeyEnvs,
    MaxFailures,
    Models,
    Probe,
    Temperature,
    TokenPrice,
    TopP,
    Upstreams,
    upstream_options,
)

if TYPE_CHECKING:
    from steelyard.sampling.progress import Progress

EXAMPLE = (
    "Example: steelyard generate questions.jsonl --upstream http://127.0.0.1:8000/v1 --model my-model -n 32 -o run\n\n"
    "Example (several LLMs): steelyard generate questions.jsonl --model a=my-7b,b=my-70b -n 4 -o run "
    "--upstream a=http://127.0.0.1:8000/v1,b=http://127.0.0.1:8001/v1"
)


def run(
    questions: Annotated[
        str,
        typer.Argument(
            metavar="QUESTIONS",
            help="Questions: .jsonl, .parquet or .csv with question, prompt, gold; or MATH, MATH-500, GSM8K, MMLU-Pro.",
            show_default=False,
        ),
    ],
    upstream: Upstreams,
    output: Annotated[Path, output_option("the folder of the run", "RUN")],
    model: Models = None,
    n: Annotated[int | None, n_option("Drawn from each upstream. Default: from --plan, or 32")] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Plan made by 'steelyard fit'; sets -n to what it, or one made by 'plan-budget', was made for.",
            show_default=False,
        ),
    ] = None,
    temperature: Temperature = 0.7,
    top_p: TopP = 0.9,
    max_tokens: Annotated[int, typer.Option("--max-tokens", metavar="TOKENS", help="Max tokens per sample.")] = 2048,
    seed: Annotated[
        int,
        typer.Option("--seed", metavar="SEED", help=f"{SEED} Sample i of a question uses SEED + i."),
    ] = 0,
    prompt: Annotated[
        str | None,
        typer.Option(
            "--prompt",
            metavar="NAME|FILE",
            help=f"{PROMPT} Default: chosen by the questions.",
            show_default=False,
            autocompletion=complete_prompt,
        ),
    ] = None,
    answers: Annotated[str | None, ANSWERS_BY_PROMPT] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="COUNT", help="Use only the first COUNT questions. Default: all.", show_default=False
        ),
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, metavar="COUNT", help="Maximum concurrent requests; adapts to the server.")
    ] = 64,
    fan_out: Annotated[
        bool, typer.Option("--fan-out", help="Send one request per sample, so that seeds work on any server.")
    ] = False,
    logprobs: Annotated[
        bool,
        typer.Option(
            help="Request log-probabilities if the server has them (default); --no-logprobs turns this off.",
            show_default=False,
        ),
    ] = True,
    top_logprobs: Annotated[
        int,
        typer.Option(
            "--top-logprobs",
            metavar="COUNT",
            help="Store statistics of the COUNT most likely tokens, such as 20, for deepconf scores; 0: none.",
        ),
    ] = 0,
    retries: Annotated[
        int, typer.Option(min=0, metavar="COUNT", help="Retries per request. Waiting for a busy server does not count.")
    ] = 2,
    try_timeout: Annotated[float, typer.Option(min=0.01, metavar="SECONDS", help="Timeout of one attempt.")] = 600.0,
    sample_timeout: Annotated[
        float, typer.Option(min=0.01, metavar="SECONDS", help="Timeout of a sample, including all its retries.")
    ] = 3600.0,
    max_failures: MaxFailures = "10%",
    fork: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Start a new run in this folder with these settings; samples shared with the run of -o are copied.",
            show_default=False,
        ),
    ] = None,
    key_env: KeyEnvs = None,
    rename: Rename = None,
    engine: EngineName = None,
    parts: Annotated[
        int | None,
        typer.Option(
            "--parts",
            min=1,
            metavar="COUNT",
            help="Number of parts to create; with --engine only. Default: 4 per worker.",
            show_default=False,
        ),
    ] = None,
    workers: WorkerRange = None,
    price: TokenPrice = None,
    dry_run: DryRun = False,
    probe: Probe = None,
    confirm_above: ConfirmAbove = None,
    json: Json = False,
) -> None:
    """Sample an LLM n times per question; run the same command again to resume."""
    arguments = dict(locals())
    from steelyard.cli.costs import Spending, check_spending, estimate_options
    from steelyard.cli.engine_options import logged, need_engine
    from steelyard.cli.generate_view import sample, send_probe, should_send, tell
    from steelyard.cli.progress_display import ServedProgress, live
    from steelyard.engine.generate import generate_parts
    from steelyard.foundation.errors import SettingError
    from steelyard.sampling.generate.generate_order import GenerateOptions
    from steelyard.sampling.generate.generate_run import generate

    if engine is None:
        need_engine(parts=parts, workers=workers)
    server_options = upstream_options(upstream, model, key_env)
    prices = check_spending(confirm_above, price, server_options["upstream"])
    estimating = estimate_options(dry_run, confirm_above, probe, engine=engine, fork=fork)
    shown: ServedProgress[Progress] = ServedProgress(lambda: live("Sampling"))
    chosen = without_none(**{name: arguments[name] for name in GenerateOptions.__annotations__})
    options = cast(GenerateOptions, chosen | {"rename": renames(rename)} | server_options)
    spending = Spending(prices, dry_run, confirm_above, json)
    if probe is not None:
        spending = send_probe(questions, output, options, probe, spending)
    if estimating and not should_send(questions, output, options, spending):
        return

    def work() -> Progress:
        if engine is None:
            return generate(questions, output, fork=fork, progress=shown.progress, serve=shown.serve, **options)
        if fork is not None:
            raise SettingError("--fork cannot be combined with --engine: leave out one of them")
        with logged("Sampling", output, shown.progress) as watch:
            return generate_parts(
                questions, output, engine=engine, parts=parts, workers=workers, progress=watch, **options
            )

    tell(fork or output, sample(work, shown, fork or output, spending), False, spending)
