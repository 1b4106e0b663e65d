"""steelyard score: have a verifier score every response of a run or a table."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli import sampling_options as sampling
from steelyard.cli.completion import complete_table
from steelyard.cli.engine_options import EngineName, WorkerRange
from steelyard.cli.progress_display import progress_bar
from steelyard.cli.score_view import should_send, show_scored, show_verifiers
from steelyard.foundation.errors import SettingError

EXAMPLE = "Example: steelyard score run --verifier qwen-prm --local\n\nExample (list the verifiers): steelyard score"


def run(
    files: Annotated[
        list[Path] | None,
        opt.argument(
            "FILE...", "Tables of responses, or one run of steelyard generate.", autocompletion=complete_table
        ),
    ] = None,
    verifier: sampling.VerifierName = None,
    upstream: sampling.VerifierServers = None,
    local: sampling.LocalVerifier = False,
    model: Annotated[
        str | None,
        opt.option("--model", "NAME", f"{sampling.MODEL} For a reward model: its folder or Hugging Face name."),
    ] = None,
    split: Annotated[
        str | None,
        opt.option(
            "--split",
            "HOW",
            "How responses are split: blank-lines, newlines, merge-blank, ki, whole, answer. Default: the verifier's.",
        ),
    ] = None,
    context: Annotated[
        int | None, opt.option("--context", "TOKENS", "Limit of the context, in tokens.", min=16)
    ] = None,
    column: Annotated[
        str | None, opt.option("--as", "COLUMN", "Column for the scores. Default: the verifier's name.")
    ] = None,
    criteria: sampling.CriteriaFile = None,
    key_env: sampling.KeyEnv = "OPENAI_API_KEY",
    max_failures: sampling.MaxFailures = "10%",
    output: Annotated[Path | None, opt.output_option("the run made from a table. Default: FILE.scored", "RUN")] = None,
    plan: Annotated[
        Path | None,
        opt.option("--plan", "FILE", "Plan made by 'steelyard fit'; with --frugal, the one that will vote."),
    ] = None,
    frugal: sampling.FrugalRule = None,
    answers: opt.Answers = "auto",
    rename: opt.Rename = None,
    layout: opt.LayoutName = None,
    engine: EngineName = None,
    workers: WorkerRange = None,
    gpus_per_worker: Annotated[
        float | None,
        opt.option(
            "--gpus-per-worker",
            "COUNT",
            "With --engine ray and --local: GPUs per worker, at most 1. Default: 1 if the cluster has any.",
            min=0,
        ),
    ] = None,
    price: sampling.TokenPrice = None,
    dry_run: sampling.DryRun = False,
    confirm_above: sampling.ConfirmAbove = None,
    json: opt.Json = False,
) -> None:
    """Score every response of a table or a run with a verifier; run the same command again to resume.

    For a table, a run with all its columns is made beside it; the column prompt must contain the question text.
    """
    if not files:
        show_verifiers(json)
        return
    if verifier is None:
        raise SettingError("name a verifier with --verifier; 'steelyard score' without arguments lists them")
    from steelyard.cli.costs import Spending, check_spending, estimate_options
    from steelyard.cli.engine_options import logged, need_engine
    from steelyard.engine.score import score_parts
    from steelyard.sampling.llm.embedded import LOCAL, WEAK
    from steelyard.sampling.llm.prices import VERIFIER, price_of
    from steelyard.sampling.score.score import ScoreOrder, score
    from steelyard.sampling.verifiers import find_verifier
    from steelyard.sampling.verifiers.criteria import read_criteria

    if engine is None:
        need_engine(workers=workers, gpus_per_worker=gpus_per_worker)
    prices = check_spending(confirm_above, price)
    estimating = estimate_options(dry_run, confirm_above, None, engine=engine)
    if upstream == LOCAL and engine is None:
        print(WEAK, file=sys.stderr)
    options: dict[str, Any] = {
        "local": local, "model": model, "split": split, "context": context, "column": column, "key_env": key_env,
        "max_failures": max_failures, "criteria": read_criteria(criteria),
    }  # fmt: skip
    made_from: dict[str, Any] = {"output": output, "rename": opt.renames(rename), "layout": layout}
    if estimating:
        order = ScoreOrder(verifier, upstream, **options)
        on_demand, spend = frugal is not None, Spending(prices, dry_run, confirm_above, json)
        if not should_send(opt.source_of(files), order, on_demand, made_from, spend):
            return
    try:
        if engine is not None:
            _check_parted(files, output=output, rename=rename, layout=layout)
            with logged("Scoring", files[0]) as watch:
                done = score_parts(
                    files[0], verifier, engine=engine, workers=workers, gpus_per_worker=gpus_per_worker,
                    at=upstream, plan=plan, frugal=frugal, answers=answers, progress=watch, **options,
                )  # fmt: skip
        else:
            with progress_bar(f"Scoring {opt.title_of(files)}") as progress:
                done = score(
                    opt.source_of(files), verifier, upstream=upstream, plan=plan, frugal=frugal, answers=answers,
                    progress=progress, **made_from, **options,
                )  # fmt: skip
    except KeyboardInterrupt:
        again = shlex.join(["steelyard", *sys.argv[1:]])
        console.aside(f"Finished scores are saved. To resume: {again}")
        raise typer.Exit(130) from None
    protocol, entry = find_verifier(verifier)
    show_scored(done, column or entry.name, json, plan, price_of(prices, VERIFIER), protocol.similarity)


def _check_parted(files: list[Path], **options: Any) -> None:
    """Refuse what many workers cannot do."""
    if len(files) > 1:
        raise SettingError("--engine scores a single run in parts: pass only that run")
    for name, value in options.items():
        if value:
            option = {"output": "-o"}.get(name, f"--{name}")
            raise SettingError(f"{option} cannot be used on a run in parts: leave it out, or leave out --engine")
