"""steelyard serve: an OpenAI-compatible server whose model is the vote."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli.options import Answers, KeyEnvs, Models, Plan, Upstreams, method_option, n_option, upstream_options

EXAMPLE = "Example: steelyard serve --upstream http://127.0.0.1:8001/v1 --model NAME --plan plan.json"


def run(
    upstream: Upstreams,
    model: Models = None,
    plan: Plan = None,
    method: Annotated[str | None, method_option("Without a plan: majority, vanilla or best-of-n.")] = None,
    n: Annotated[int, n_option("where a request does not say")] = 8,
    answers: Answers = "math",
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="PORT", help="Port to listen at; 0: any free one.")] = 8000,
    key_env: KeyEnvs = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file",
            metavar="FILE",
            help="File with the clients' keys, one per line. Default: the key in $STEELYARD_KEY.",
            show_default=False,
        ),
    ] = None,
    unauthenticated: Annotated[
        bool,
        typer.Option("--unsafe-allow-unauthenticated", help="Listen at an address of other machines without any key."),
    ] = False,
) -> None:
    """Serve OpenAI's API: every chat request is sampled, voted on and answered with one original response."""
    from steelyard.cli.server_options import opened
    from steelyard.gateway.configuration import Configuration
    from steelyard.gateway.serving import exit_code, serve_forever

    asked_of: dict[str, Any] = upstream_options(upstream, model, key_env)
    configuration = Configuration(
        **asked_of, plan=plan, method=method, n=n, answers=answers, host=host,
        port=port, key_file=key_file, unauthenticated=unauthenticated,
    )  # fmt: skip

    def tell(address: str) -> None:
        print(f"Steelyard serves {configuration.name} at {address}/v1", flush=True)

    raise typer.Exit(exit_code(asyncio.run(serve_forever(configuration, tell, opened))))
