"""The options of verbs that spend money: prices, estimates, and what needs a confirmation."""

from __future__ import annotations

from typing import Annotated

import typer

TokenPrice = Annotated[
    list[str] | None,
    typer.Option(
        "--token-price",
        metavar="IN,OUT",
        help="What a million tokens of prompts and of responses cost, in USD unless a currency follows: IN,OUT,EUR. "
        "Several upstreams: one for all, or --token-price a=IN,OUT for each; verifier=IN,OUT is for a verifier's own "
        "server.",
        show_default=False,
    ),
]
Probe = Annotated[
    int | None,
    typer.Option(
        "--probe",
        min=1,
        metavar="COUNT",
        help="With --dry-run or --confirm-above: sample the first so many questions into the run, and estimate the "
        "rest from what they took.",
        show_default=False,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Print the expected requests, tokens and cost, and send nothing to the LLM."),
]
ConfirmAbove = Annotated[
    float | None,
    typer.Option(
        "--confirm-above",
        min=0,
        metavar="COST",
        help="Ask before spending if the cost may exceed this; needs --token-price.",
        show_default=False,
    ),
]
