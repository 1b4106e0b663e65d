"""Options of verbs that send requests to LLMs and verifiers: servers, models, sampling, on-demand scoring and cost."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.completion import complete_upstream, complete_verifier
from steelyard.foundation.errors import SettingError

SERVER = "OpenAI-compatible server, as http://127.0.0.1:8000/v1; or local."
Upstreams = Annotated[
    list[str],
    typer.Option(
        "--upstream",
        metavar="URL",
        help=f"{SERVER} Several by name: a=URL,b=URL.",
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
        help=f"{SERVER} Several by name: a=URL,b=URL.",
        show_default=False,
        autocompletion=complete_upstream,
    ),
]
MODEL = "The model, by the name the server knows it by."
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help=MODEL, show_default=False)]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help=f"{MODEL} Several upstreams: a=NAME,b=NAME. Default: their names.",
        show_default=False,
    ),
]
KEY = "Environment variable that holds the server's key, if any."
KeyEnvs = Annotated[
    list[str] | None,
    typer.Option(
        "--key-env",
        metavar="VARIABLE",
        help=f"{KEY} Several upstreams: one for all, or a=VARIABLE,b=VARIABLE. Default: OPENAI_API_KEY.",
        show_default=False,
    ),
]
KeyEnv = Annotated[
    str,
    typer.Option("--key-env", metavar="VARIABLE", help=KEY),
]
PROMPT = "Prompt: math, choice, plain, or a file with {prompt} in it."
Temperature = Annotated[float, typer.Option("--temperature", metavar="T", help="Temperature of the samples.")]
TopP = Annotated[float, typer.Option("--top-p", metavar="P", help="Share of the probability that is sampled from.")]
MaxFailures = Annotated[
    str,
    typer.Option(
        "--max-failures", metavar="COUNT|SHARE%", help="Stop after more failures: a number, or a share as 1%."
    ),
]
VerifierName = Annotated[
    str | None,
    typer.Option(
        "--verifier",
        metavar="NAME",
        help="Short name of a verifier; 'steelyard score' alone lists them.",
        show_default=False,
        autocompletion=complete_verifier,
    ),
]
VerifierUpstream = Annotated[
    str | None,
    typer.Option(
        "--verifier-upstream",
        metavar="URL",
        help="Server of the verifier; what --upstream is to 'steelyard score'.",
        show_default=False,
    ),
]
VerifierModel = Annotated[
    str | None,
    typer.Option(
        "--verifier-model",
        metavar="NAME",
        help="The verifier's model; what --model is to 'steelyard score'.",
        show_default=False,
    ),
]
FrugalRule = Annotated[
    str | None,
    typer.Option(
        "--frugal",
        metavar="RULE",
        help="Ask the verifier on demand: exact (changes no verdict of the plan) or expected (worth its price). "
        "Without a rule: expected where the plan has learned it, else exact.",
        show_default=False,
    ),
]
PriceResponse = Annotated[
    float | None,
    typer.Option(
        "--price-response",
        metavar="MONEY",
        help="What a verifier costs per response it reads; the bill of --frugal is then in money, too.",
        show_default=False,
    ),
]
ScorePrice = Annotated[
    float | None,
    typer.Option(
        "--price-score",
        metavar="PRICE",
        help="What one score costs. With --frugal expected, in accuracy it must bring: 0.0015 by default.",
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
                f"{option} was given {len(texts)} times: say it once, or by name as in {option} a=..,b=.."
            )
    return {name: ",".join(texts) for name, texts in options.items() if texts}
