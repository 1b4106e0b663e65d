"""steelyard score: have a verifier score every sample of a run."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import show
from steelyard.cli.options import MODEL, AnyUpstream, Json, KeyEnv, MaxFailures, VerifierName
from steelyard.cli.scores_view import show_scored, show_verifiers

EXAMPLE = "Example: steelyard score RUN --verifier qwen-prm --local. Without anything: the list of verifiers"


def run(
    folder: Annotated[Path | None, typer.Argument(metavar="RUN", help="A run of steelyard generate.")] = None,
    verifier: VerifierName = None,
    upstream: AnyUpstream = None,
    local: Annotated[
        bool, typer.Option("--local", help=r"Run the verifier in this process (needs steelyard\[prm]).")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help=f"{MODEL} A reward model: its folder or Hugging Face name.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="How responses are split: blank-lines, newlines, merge-blank, ki, whole. Default: the verifier's.",
            show_default=False,
        ),
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(min=16, metavar="TOKENS", help="Tokens the verifier may see, if fewer.", show_default=False),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="COLUMN", help="Column of the scores. Default: the short name.", show_default=False
        ),
    ] = None,
    key_env: KeyEnv = "OPENAI_API_KEY",
    max_failures: MaxFailures = "10%",
    json: Json = False,
) -> None:
    """Have a verifier score every sample of a run; the same command goes on where the last one stopped."""
    from steelyard.errors import SettingError

    if folder is None:
        show_verifiers(json)
        return
    if verifier is None:
        raise SettingError("name a verifier with --verifier; 'steelyard score' alone lists them")
    from steelyard.jobs.score import score
    from steelyard.llm.embedded import LOCAL, WEAK

    if upstream == LOCAL:
        print(WEAK, file=sys.stderr)
    try:
        with show.progress(f"Scoring {folder}") as progress:
            done = score(
                folder, verifier, upstream=upstream, local=local, model=model, split=split, context=context,
                column=column, key_env=key_env, max_failures=max_failures, progress=progress,
            )  # fmt: skip
    except KeyboardInterrupt:
        again = shlex.join(["steelyard", *sys.argv[1:]])
        show.aside(f"What was scored is saved; to go on: {again}")
        raise typer.Exit(130) from None
    show_scored(done, folder, column or verifier, json)
