"""The options of `steelyard serve` that no other verb has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Host = Annotated[str, typer.Option("--host", metavar="HOST", help="Address to listen at.")]
Port = Annotated[int, typer.Option("--port", metavar="PORT", help="Port to listen at; 0: any that is free.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME",
        help="Name under which a reverse proxy passes requests on (the Host header); may be given several times.",
        show_default=False,
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="File with the clients' keys, one per line. Default: the key in $STEELYARD_KEY.",
        show_default=False,
    ),
]
Unauthenticated = Annotated[
    bool,
    typer.Option("--unsafe-no-key", help="Listen at an address of other machines without any key."),
]
LimitOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cap",
        metavar="NAME=MOST",
        help="The most of body (bytes), messages, samples, choices, tokens and cost (of all samples of a request and "
        "their scores), deadline (seconds), in-flight, queue (requests), the seconds that a client has for a head and "
        "an upload and that requests have to end (drain), and the bytes of feedback that has no label.",
        show_default=False,
    ),
]
AllowField = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-field",
        metavar="NAME",
        help="Field, or type of content or tool, to allow under --cap cost although it may change the price, such as "
        "service_tier or image_url; may be repeated.",
        show_default=False,
    ),
]
VerifierUrl = Annotated[
    str | None,
    typer.Option(
        "--verifier-upstream",
        metavar="URL",
        help="Server of the verifier. Default: the upstream itself, for p-true.",
        show_default=False,
    ),
]
VerifierModel = Annotated[
    str | None,
    typer.Option(
        "--verifier-model", metavar="NAME", help="The verifier's model; by the name its server has.", show_default=False
    ),
]
VerifierKeyEnv = Annotated[
    str | None,
    typer.Option(
        "--verifier-key-env",
        metavar="VARIABLE",
        help="Environment variable that holds the key of the verifier's server, if any.",
        show_default=False,
    ),
]
VerifierLocal = Annotated[bool, typer.Option("--verifier-local", help="Run the verifier in this process.")]
FeedbackFolder = Annotated[
    Path | None,
    typer.Option(
        "--feedback",
        metavar="FOLDER",
        help="Folder that keeps the votes and the labels of POST /v1/feedback; 'steelyard fit FOLDER' learns from it.",
        show_default=False,
    ),
]
AccessLogFile = Annotated[
    str,
    typer.Option(
        "--access-log",
        metavar="FILE",
        help="File to append one JSON line per request to, without prompts and responses; - is stderr. Requests that "
        "fail with 5xx are always logged to stderr.",
    ),
]
KeepTexts = Annotated[
    bool,
    typer.Option(
        "--keep-texts",
        help="Keep prompts and responses too: of all requests with --feedback, of the last ones for the page.",
    ),
]
