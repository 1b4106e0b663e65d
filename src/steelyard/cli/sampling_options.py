"""Options of verbs that send requests to LLMs and verifiers: servers, models, sampling, on-demand scoring and cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import options as opt
from steelyard.cli.completion import complete_upstream, complete_verifier
from steelyard.foundation.errors import SettingError

SERVER = "OpenAI-compatible server, such as http://127.0.0.1:8000/v1, or local for the embedded LLM."
SERVERS = opt.option(
    "--upstream", "URL", f"{SERVER} For several, name each: a=URL,b=URL.", autocompletion=complete_upstream
)
Upstreams = Annotated[list[str], SERVERS]
AnyUpstreams = Annotated[list[str] | None, SERVERS]
VerifierServers = Annotated[
    str | None,
    opt.option(
        "--upstream", "URL", f"{SERVER} With --engine, one per worker: URL,URL.", autocompletion=complete_upstream
    ),
]
MODEL = "Name of the model on the server."
Models = Annotated[
    list[str] | None,
    opt.option(
        "--model", "NAME", f"{MODEL} For several upstreams: a=NAME,b=NAME. Default: the names of the upstreams."
    ),
]
KEY = "Environment variable with the server's API key."
KeyEnvs = Annotated[
    list[str] | None,
    opt.option(
        "--key-env",
        "VARIABLE",
        f"{KEY} For several upstreams: one for all, or a=VARIABLE,b=VARIABLE. Default: OPENAI_API_KEY.",
    ),
]
KeyEnv = Annotated[str, typer.Option("--key-env", metavar="VARIABLE", help=KEY)]
PROMPT = "Prompt template: math, choice, plain, or a file that contains {prompt}."
Temperature = Annotated[float, typer.Option("--temperature", metavar="T", help="Sampling temperature.")]
TopP = Annotated[float, typer.Option("--top-p", metavar="P", help="Nucleus sampling: probability mass to sample from.")]
MaxFailures = Annotated[
    str,
    typer.Option(
        "--max-failures", metavar="COUNT|SHARE%", help="Maximum failures before stopping: a number, or a share: 1%."
    ),
]
VerifierName = Annotated[
    str | None,
    opt.option(
        "--verifier",
        "NAME",
        "Name of the verifier; 'steelyard score' without arguments lists them.",
        autocompletion=complete_verifier,
    ),
]
LocalVerifier = Annotated[
    bool, typer.Option("--local", help=r"Run the verifier in this process (needs steelyard\[prm]).")
]
VerifierUpstream = Annotated[
    str | None,
    opt.option("--verifier-upstream", "URL", "Server of the verifier; like --upstream of 'steelyard score'."),
]
VerifierModel = Annotated[
    str | None, opt.option("--verifier-model", "NAME", "Model of the verifier; like --model of 'steelyard score'.")
]
CriteriaFile = Annotated[
    Path | None,
    typer.Option(
        "--criteria",
        metavar="FILE",
        help="Text file that describes a good response, for --verifier judge and judge-pairwise, or when two "
        "responses mean the same, for same-meaning.",
        show_default=False,
    ),
]
FrugalRule = Annotated[
    str | None,
    opt.option(
        "--frugal",
        "RULE",
        "Score on demand: exact (never changes a verdict of the plan) or expected (scores worth their price). "
        "Without a rule: expected if the plan has learned it, otherwise exact.",
    ),
]
PriceResponse = Annotated[
    float | None,
    opt.option(
        "--price-response", "MONEY", "Cost of the verifier per response; the --frugal bill then includes money."
    ),
]
ScorePrice = Annotated[
    float | None,
    opt.option(
        "--price-score",
        "PRICE",
        "Price of a score. With --frugal expected: the accuracy that a score must gain, 0.0015 by default.",
    ),
]
TokenPrice = Annotated[
    list[str] | None,
    opt.option(
        "--token-price",
        "IN,OUT",
        "Price of a million input tokens and of a million output tokens, in USD unless a currency follows: "
        "IN,OUT,EUR. With several upstreams, give one price for all or --token-price a=IN,OUT for each; "
        "verifier=IN,OUT is the price of a verifier's own server.",
    ),
]
Probe = Annotated[
    int | None,
    opt.option(
        "--probe",
        "COUNT",
        "With --dry-run or --confirm-above: sample this many questions into the run first, and estimate the rest "
        "from their usage.",
        min=1,
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print the expected requests, tokens and cost, and send no requests.")
]
ConfirmAbove = Annotated[
    float | None,
    opt.option(
        "--confirm-above", "COST", "Ask for confirmation if the cost could exceed this; needs --token-price.", min=0
    ),
]


def upstream_options(upstream: list[str], model: list[str] | None, key_env: list[str] | None) -> dict[str, str]:
    """Parse the options of upstreams, repeated or separated by commas; without names each is given once.

    >>> upstream_options(["a=http://h/v1", "b=local"], None, ["a=KEY"])
    {'upstream': 'a=http://h/v1,b=local', 'key_env': 'a=KEY'}
    """
    options = {"upstream": upstream, "model": model or [], "key_env": key_env or []}
    for name, texts in options.items():
        option = f"--{name.replace('_', '-')}"
        if len(texts) > 1 and not all("=" in text for text in texts):
            raise SettingError(
                f"{option} was given {len(texts)} times: give it once, or by name as in {option} a=..,b=.."
            )
    return {name: ",".join(texts) for name, texts in options.items() if texts}
