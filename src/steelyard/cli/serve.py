"""steelyard serve: an OpenAI-compatible server whose model is the vote."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli import options as opt
from steelyard.cli.sampling_options import (
    CriteriaFile,
    KeyEnvs,
    Models,
    TokenPrice,
    Upstreams,
    VerifierName,
    upstream_options,
)

EXAMPLE = "Example: steelyard serve --upstream http://127.0.0.1:8001/v1 --model my-model --plan plan.json"


def run(
    upstream: Upstreams,
    model: Models = None,
    plan: opt.Plan = None,
    method: Annotated[
        str | None, opt.method_option("Without a plan: any that needs no labels, such as majority or vanilla.")
    ] = None,
    n: Annotated[int, opt.n_option("A request can set its own number")] = 8,
    answers: opt.Answers = "auto",
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="PORT", help="Port to listen on; 0 picks a free one.")] = 8000,
    allow_host: Annotated[
        list[str] | None,
        opt.option(
            "--allow-host", "NAME", "Host header to accept, for requests through a reverse proxy; may be repeated."
        ),
    ] = None,
    key_env: KeyEnvs = None,
    key_file: Annotated[
        Path | None,
        opt.option(
            "--key-file", "FILE", "File with the clients' keys, one per line. Default: the key in $STEELYARD_KEY."
        ),
    ] = None,
    unauthenticated: Annotated[
        bool, typer.Option("--unsafe-no-key", help="Allow other machines to connect without a key.")
    ] = False,
    limit: Annotated[
        list[str] | None,
        opt.option(
            "--cap",
            "NAME=MOST",
            "Limits: body (bytes), messages, samples, choices, tokens and cost (of all samples of a request and "
            "their scores), deadline (seconds), in-flight and queue (requests), head and upload (seconds a client has "
            "to send each), drain (seconds requests have to finish at shutdown) and feedback (bytes without a label).",
        ),
    ] = None,
    price: TokenPrice = None,
    allow_field: Annotated[
        list[str] | None,
        opt.option(
            "--allow-field",
            "NAME",
            "Field, content type or tool type to allow with --cap cost although it may change the price, such as "
            "service_tier or image_url; may be repeated.",
        ),
    ] = None,
    feedback: Annotated[
        Path | None,
        opt.option(
            "--feedback",
            "FOLDER",
            "Folder for the votes and the labels sent to POST /v1/feedback; 'steelyard fit FOLDER' learns from it.",
        ),
    ] = None,
    keep_texts: Annotated[
        bool,
        typer.Option(
            "--keep-texts",
            help="Also store prompts and responses: of all requests with --feedback, and of recent ones for the web "
            "page.",
        ),
    ] = False,
    access_log: Annotated[
        str,
        typer.Option(
            "--access-log",
            metavar="FILE",
            help="File to append one JSON line per request to, without prompts and responses; - is stderr. Requests "
            "that fail with 5xx are always logged to stderr.",
        ),
    ] = "-",
    verifier: VerifierName = None,
    verifier_upstream: Annotated[
        str | None,
        opt.option(
            "--verifier-upstream", "URL", "Server of the verifier. Default: the upstream itself, for p-true and judge."
        ),
    ] = None,
    verifier_model: Annotated[
        str | None, opt.option("--verifier-model", "NAME", "Model of the verifier; its name on that server.")
    ] = None,
    verifier_key_env: Annotated[
        str | None,
        opt.option("--verifier-key-env", "VARIABLE", "Environment variable with the API key of the verifier's server."),
    ] = None,
    criteria: CriteriaFile = None,
    verifier_local: Annotated[bool, typer.Option("--verifier-local", help="Run the verifier in this process.")] = False,
    json: opt.Json = False,
) -> None:
    """Serve an OpenAI-compatible API: sample each chat request many times, vote, and return one original response.

    Requests for an upstream's own model are passed through; with several upstreams, by the name given in --upstream.
    """
    from steelyard.cli.progress_display import open_server
    from steelyard.foundation.cores import run_in_loop
    from steelyard.gateway.caps import read_caps
    from steelyard.gateway.configuration import Configuration
    from steelyard.gateway.serving import exit_code, serve_forever
    from steelyard.gateway.vote.verifier_settings import VerifierSettings
    from steelyard.sampling.llm.prices import read_prices
    from steelyard.sampling.verifiers.criteria import read_criteria

    server_options: dict[str, Any] = upstream_options(upstream, model, key_env)
    place = opt.without_none(
        upstream=verifier_upstream, model=verifier_model, key_env=verifier_key_env, criteria=read_criteria(criteria)
    )
    configuration = Configuration(
        **server_options, plan=plan, method=method, n=n, answers=answers, host=host, port=port,
        allow_hosts=tuple(allow_host or ()), key_file=key_file,
        unauthenticated=unauthenticated, caps=read_caps(limit or []), price=read_prices(price or []),
        allow_fields=tuple(allow_field or ()),
        feedback=feedback, keep_texts=keep_texts, access_log=access_log,
        verifier=VerifierSettings(verifier, local=verifier_local, **place) if verifier else None,
    )  # fmt: skip

    def tell(address: str) -> None:
        served = {"model": configuration.name, "url": f"{address}/v1", "page": f"{address}/"}
        lines = f"Steelyard serves {configuration.name} at {address}/v1\nWeb page: {address}/"
        print(dumps(served) if json else lines, flush=True)

    raise typer.Exit(exit_code(run_in_loop(serve_forever(configuration, tell, open_server))))
