"""Options of verbs that send requests to LLMs and verifiers: servers, models, sampling, on-demand scoring and cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.completion import complete_upstream, complete_verifier
from steelyard.foundation.errors import SettingError

SERVER = "OpenAI-compatible server, such as http://127.0.0.1:8000/v1, or local for the embedded LLM."
Upstreams = Annotated[
    list[str],
    typer.Option(
        "--upstream",
        metavar="URL",
        help=f"{SERVER} For several, name each: a=URL,b=URL.",
        show_default=False,
        autocompletion=complete_upstream,
    ),
]
AnyUpstream = Annotated[
    str | None,
    typer.Option("--upstream", metavar="URL", help=SERVER, show_default=False, autocompletion=complete_upstream),
]
VerifierServers = Annotated[
    str | None,
    typer.Option(
        "--upstream",
        metavar="URL",
        help=f"{SERVER} With --engine, one per worker: URL,URL.",
        show_default=False,
        autocompletion=complete_upstream,
    ),
]
AnyUpstreams = Annotated[
    list[str] | None,
    typer.Option(
        "--upstream",
        metavar="URL",
        help=f"{SERVER} For several, name each: a=URL,b=URL.",
        show_default=False,
        autocompletion=complete_upstream,
    ),
]
MODEL = "Name of the model on the server."
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help=MODEL, show_default=False)]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help=f"{MODEL} For several upstreams: a=NAME,b=NAME. Default: the names of the upstreams.",
        show_default=False,
    ),
]
KEY = "Environment variable with the server's API key."
KeyEnvs = Annotated[
    list[str] | None,
    typer.Option(
        "--key-env",
        metavar="VARIABLE",
        help=f"{KEY} For several upstreams: one for all, or a=VARIABLE,b=VARIABLE. Default: OPENAI_API_KEY.",
        show_default=False,
    ),
]
KeyEnv = Annotated[
    str,
    typer.Option("--key-env", metavar="VARIABLE", help=KEY),
]
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
    typer.Option(
        "--verifier",
        metavar="NAME",
        help="Name of the verifier; 'steelyard score' without arguments lists them.",
        show_default=False,
        autocompletion=complete_verifier,
    ),
]
VerifierUpstream = Annotated[
    str | None,
    typer.Option(
        "--verifier-upstream",
        metavar="URL",
        help="Server of the verifier; like --upstream of 'steelyard score'.",
        show_default=False,
    ),
]
VerifierModel = Annotated[
    str | None,
    typer.Option(
        "--verifier-model",
        metavar="NAME",
        help="Model of the verifier; like --model of 'steelyard score'.",
        show_default=False,
    ),
]
CriteriaFile = Annotated[
    Path | None,
    typer.Option(
        "--criteria",
        metavar="FILE",
        help="Text file that describes a good response, for --verifier judge and judge-pairwise.",
        show_default=False,
    ),
]
FrugalRule = Annotated[
    str | None,
    typer.Option(
        "--frugal",
        metavar="RULE",
        help="Score on demand: exact (never changes a verdict of the plan) or expected (scores worth their price). "
        "Without a rule: expected if the plan has learned it, otherwise exact.",
        show_default=False,
    ),
]
PriceResponse = Annotated[
    float | None,
    typer.Option(
        "--price-response",
        metavar="MONEY",
        help="Cost of the verifier per response; the --frugal bill then includes money.",
        show_default=False,
    ),
]
ScorePrice = Annotated[
    float | None,
    typer.Option(
        "--price-score",
        metavar="PRICE",
        help="Price of a score. With --frugal expected: the accuracy that a score must gain, 0.0015 by default.",
        show_default=False,
    ),
]
TokenPrice = Annotated[
    list[str] | None,
    typer.Option(
        "--token-price",
        metavar="IN,OUT",
        help="Price of a million input tokens and of a million output tokens, in USD unless a currency follows: "
        "IN,OUT,EUR. With several upstreams, give one price for all or --token-price a=IN,OUT for each; "
        "verifier=IN,OUT is the price of a verifier's own server.",
        show_default=False,
    ),
]
Probe = Annotated[
    int | None,
    typer.Option(
        "--probe",
        min=1,
        metavar="COUNT",
        help="With --dry-run or --confirm-above: sample this many questions into the run first, and estimate the rest "
        "from their usage.",
        show_default=False,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Print the expected requests, tokens and cost, and send no requests."),
]
ConfirmAbove = Annotated[
    float | None,
    typer.Option(
        "--confirm-above",
        min=0,
        metavar="COST",
        help="Ask for confirmation if the cost could exceed this; needs --token-price.",
        show_default=False,
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
