"""Options of verbs that spend money: prices, estimates and confirmation."""

from __future__ import annotations

from typing import Annotated

import typer

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
