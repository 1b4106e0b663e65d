"""steelyard ask: one question, many samples, one verdict."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli import sampling_options as sampling
from steelyard.cli.ask_groups import show_groups
from steelyard.cli.ask_view import AskInfo, as_object, show_ballot, show_reading, show_turns, turns_object
from steelyard.cli.completion import complete_kind, complete_prompt
from steelyard.cli.costs import say_spent, spent_object
from steelyard.cli.progress_display import ServedProgress
from steelyard.foundation.errors import SteelyardWarning

if TYPE_CHECKING:
    from steelyard.sampling.ask.ask import AskResult
    from steelyard.sampling.llm.prices import Prices

EXAMPLE = (
    'Example: steelyard ask "Tom has 3 apples and buys 4 more. How many does he have?" --upstream local -n 8\n\n'
    'Example (free text): steelyard ask "Who wrote Middlemarch?" --answers free --upstream local -n 8\n\n'
    'Example (several LLMs): steelyard ask "How many?" --plan plan.json --model a=my-7b,b=my-70b '
    "--upstream a=http://127.0.0.1:8000/v1,b=http://127.0.0.1:8001/v1"
)


def run(
    question: Annotated[str, opt.argument("QUESTION", "The question, in quotes.")],
    upstream: sampling.Upstreams,
    model: sampling.Models = None,
    n: Annotated[int | None, opt.n_option("Drawn from each upstream. Default: from a 'plan-budget' plan, or 8")] = None,
    plan: Annotated[
        Path | None,
        opt.option(
            "--plan",
            "FILE",
            "Plan made by 'steelyard fit'; here on the score self_logprob, or one made by 'plan-budget'.",
        ),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            "--prompt",
            metavar="NAME|FILE",
            help=f"{sampling.PROMPT} Default: math, or plain for free text.",
            show_default=False,
            autocompletion=complete_prompt,
        ),
    ] = None,
    answers: Annotated[
        str,
        typer.Option(
            "--answers",
            metavar="KIND",
            help=f"{opt.KIND} auto uses the plan's kind, or what the question asks for.",
            autocompletion=complete_kind,
        ),
    ] = "auto",
    temperature: sampling.Temperature = 0.7,
    top_p: sampling.TopP = 0.9,
    max_tokens: Annotated[
        int | None,
        opt.option("--max-tokens", "TOKENS", "Max tokens per sample. Default: 2048, or 512 with the embedded LLM."),
    ] = None,
    seed: opt.Seed = 0,
    key_env: sampling.KeyEnvs = None,
    verifier: sampling.VerifierName = None,
    verifier_upstream: sampling.VerifierUpstream = None,
    verifier_model: sampling.VerifierModel = None,
    criteria: sampling.CriteriaFile = None,
    local: sampling.LocalVerifier = False,
    frugal: sampling.FrugalRule = None,
    price: sampling.TokenPrice = None,
    dry_run: sampling.DryRun = False,
    confirm_above: sampling.ConfirmAbove = None,
    json: opt.Json = False,
) -> None:
    """Sample one question many times, show the samples as they arrive, group their answers and vote."""
    from steelyard.cli.arrivals import arrivals
    from steelyard.cli.costs import Spending, check_spending
    from steelyard.sampling.ask.ask import ask
    from steelyard.sampling.ask.prepare import prepare
    from steelyard.sampling.command_estimates import estimate_ask
    from steelyard.sampling.telemetry.exporting import exporting
    from steelyard.sampling.verifiers.criteria import read_criteria

    server_options = sampling.upstream_options(upstream, model, key_env)
    prices = check_spending(confirm_above, price, server_options["upstream"])
    options: dict[str, Any] = {
        **server_options, "n": n, "plan": plan, "prompt": prompt, "answers": answers, "temperature": temperature,
        "top_p": top_p, "max_tokens": max_tokens, "seed": seed, "verifier": verifier,
        "verifier_upstream": verifier_upstream, "verifier_model": verifier_model, "criteria": read_criteria(criteria),
        "local": local, "frugal": frugal,
    }  # fmt: skip
    with warnings.catch_warnings():
        if not dry_run:
            warnings.simplefilter("ignore", SteelyardWarning)  # `ask` repeats them
        prepared = prepare(question, **options)
    samples = prepared.samples
    if dry_run or confirm_above is not None:
        estimates = estimate_ask(prepared, on_demand=frugal is not None)
        if not Spending(prices, dry_run, confirm_above, json).should_send(estimates, "samples"):
            return
    shown = ServedProgress(lambda: arrivals(samples, prepared.kind, may_stop=prepared.cascade is not None))
    with exporting():  # the verdict is printed before it waits for a collector
        result = ask(question, **options, progress=shown.progress, serve=shown.serve)
        if result.stopped and not result.cascade:
            total = sum(samples.values())
            console.note(f"stopped after {result.stopped.samples} of {total} samples: {result.stopped.why}")
        _print_result(result, prices, json=json)


def _print_result(result: AskResult, prices: Prices, *, json: bool) -> None:
    info = AskInfo(result.question, result.model, result.method, result.score, result.plan, list(result.upstreams))
    if json:
        turns = {"cascade": turns_object(result.cascade)} if result.cascade else {}
        read_by = {"read_by": vars(result.read_by)} if result.read_by else {}
        spent = {"spent": spent_object(result.spent, prices)}
        console.as_json({**as_object(result, result.draws, info), **turns, **read_by, **spent})
        return
    show = show_groups if result.leaders else show_ballot
    show(result, result.draws, info)
    if result.read_by:
        show_reading(result.read_by)
    if result.cascade:
        show_turns(result.cascade)
    say_spent(result.spent, prices)
