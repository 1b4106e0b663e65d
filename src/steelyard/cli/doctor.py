"""steelyard doctor: is everything there that a run needs?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli import console
from steelyard.cli import sampling_options as sampling
from steelyard.cli.engine_options import EngineName
from steelyard.cli.options import Json, output_option

if TYPE_CHECKING:
    from steelyard.cli.config import Default
    from steelyard.cli.diagnosis import Finding

EXAMPLE = "Example: steelyard doctor --upstream http://127.0.0.1:8000/v1 --model my-model --verifier logprob"
COLOURS = {"ok": "\x1b[32m", "note": "\x1b[33m", "red": "\x1b[31m"}


def run(
    context: typer.Context,
    upstream: sampling.AnyUpstreams = None,
    model: sampling.Models = None,
    verifier: sampling.VerifierName = None,
    verifier_upstream: sampling.VerifierUpstream = None,
    verifier_model: sampling.VerifierModel = None,
    output: Annotated[Path, output_option("the folder for future runs", "FOLDER", show_default=True)] = Path(),
    key_env: sampling.KeyEnvs = None,
    engine: EngineName = None,
    json: Json = False,
) -> None:
    """Check the server, the verifier and this machine; a red line says how to fix a problem and sets exit code 1."""
    from steelyard.cli.diagnosis.doctor import doctor

    findings = [*_settings(context.obj or [])]
    findings += doctor(
        **sampling.upstream_options(upstream or [], model, key_env), verifier=verifier,
        verifier_upstream=verifier_upstream, verifier_model=verifier_model, output=output, engine=engine,
    )  # fmt: skip
    red = sum(finding.status == "red" for finding in findings)
    if json:
        checks = [vars(finding) for finding in findings]  # they name an upstream where there are several
        checks = [{key: value for key, value in check.items() if key != "upstream" or value} for check in checks]
        console.as_json({"ok": not red, "checks": checks})
    else:
        section = ""
        for finding in findings:
            if finding.upstream != section:
                section = finding.upstream
                console.say(f"\n{section}:" if section else "")
            _say(finding)
        problems = "1 problem" if red == 1 else f"{red} problems"
        console.say(f"\n{problems} to fix." if red else "\nNo problems found.")
    if red:
        raise typer.Exit(1)


def _settings(defaults: list[Default]) -> Iterator[Finding]:
    """What steelyard.toml and the environment say, one line for each place."""
    from steelyard.cli.diagnosis import GOOD, Finding

    where = Path("steelyard.toml").resolve()
    if not where.exists():
        yield Finding("settings", GOOD, f"no {where}: all options have their defaults")
    for origin in dict.fromkeys(default.origin for default in defaults):
        values = {default.key: default.value for default in defaults if default.origin == origin}
        listed = ", ".join(f"{key} = {value}" for key, value in values.items())
        yield Finding("settings", GOOD, f"{origin.replace(where.name, str(where))}: {listed}")


def _say(finding: Finding) -> None:
    """One line, and under it how to fix what is not well."""
    colour, end = (COLOURS[finding.status], "\x1b[0m") if sys.stdout.isatty() else ("", "")
    print(f"{colour}{finding.status:<4}{end}  {finding.name:<9}  {console.plain(finding.found)}")
    if finding.fix:
        console.say(f"      {'':<9}  → {finding.fix}")
