"""steelyard serve: an OpenAI-compatible server whose model is the vote."""

from __future__ import annotations

from json import dumps
from typing import Annotated, Any

import typer

from steelyard.cli.options import (
    Answers,
    Json,
    KeyEnvs,
    Models,
    Plan,
    Upstreams,
    VerifierName,
    method_option,
    n_option,
    only_given,
    upstream_options,
)
from steelyard.cli.serve_options import (
    AccessLogFile,
    AllowField,
    AllowHost,
    FeedbackFolder,
    Host,
    KeepTexts,
    KeyFile,
    LimitOption,
    Port,
    Unauthenticated,
    VerifierKeyEnv,
    VerifierLocal,
    VerifierModel,
    VerifierUrl,
)
from steelyard.cli.spend_options import TokenPrice

EXAMPLE = "Example: steelyard serve --upstream http://127.0.0.1:8001/v1 --model my-model --plan plan.json"


def run(
    upstream: Upstreams,
    model: Models = None,
    plan: Plan = None,
    method: Annotated[str | None, method_option("Without a plan: majority, vanilla or best-of-n.")] = None,
    n: Annotated[int, n_option("where a request does not say")] = 8,
    answers: Answers = "auto",
    host: Host = "127.0.0.1",
    port: Port = 8000,
    allow_host: AllowHost = None,
    key_env: KeyEnvs = None,
    key_file: KeyFile = None,
    unauthenticated: Unauthenticated = False,
    limit: LimitOption = None,
    price: TokenPrice = None,
    allow_field: AllowField = None,
    feedback: FeedbackFolder = None,
    keep_texts: KeepTexts = False,
    access_log: AccessLogFile = "-",
    verifier: VerifierName = None,
    verifier_upstream: VerifierUrl = None,
    verifier_model: VerifierModel = None,
    verifier_key_env: VerifierKeyEnv = None,
    verifier_local: VerifierLocal = False,
    json: Json = False,
) -> None:
    """Serve OpenAI's API: every chat request is sampled, voted on and answered with one original response.

    A request for an upstream's own model is passed on to it; of several, by the name that --upstream gives it.
    """
    from steelyard.cli.server_options import opened
    from steelyard.foundation.event_loop import run as run_in_loop
    from steelyard.gateway.caps import read_caps
    from steelyard.gateway.configuration import Configuration
    from steelyard.gateway.serving import exit_code, serve_forever
    from steelyard.gateway.vote.verifier_settings import VerifierSettings
    from steelyard.sampling.llm.prices import read_prices

    asked_of: dict[str, Any] = upstream_options(upstream, model, key_env)
    place = only_given(upstream=verifier_upstream, model=verifier_model, key_env=verifier_key_env)
    configuration = Configuration(
        **asked_of, plan=plan, method=method, n=n, answers=answers, host=host, port=port,
        allow_hosts=tuple(allow_host or ()), key_file=key_file,
        unauthenticated=unauthenticated, caps=read_caps(limit or []), price=read_prices(price or []),
        allow_fields=tuple(allow_field or ()),
        feedback=feedback, keep_texts=keep_texts, access_log=access_log,
        verifier=VerifierSettings(verifier, local=verifier_local, **place) if verifier else None,
    )  # fmt: skip

    def tell(address: str) -> None:
        served = {"model": configuration.name, "url": f"{address}/v1", "page": f"{address}/"}
        lines = f"Steelyard serves {configuration.name} at {address}/v1\nIts page: {address}/"
        print(dumps(served) if json else lines, flush=True)

    raise typer.Exit(exit_code(run_in_loop(serve_forever(configuration, tell, opened))))
