"""steelyard fit: learn the weights from a labelled file and keep them as a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import show
from steelyard.cli.options import Answers, File, Json, Rename, ScoreName, Seed, only_given, renames

EXAMPLE = "Example: steelyard fit labelled.parquet --method logit --score prm:last -o plan.json"


def run(
    file: File,
    method: Annotated[str, typer.Option(help="majority, best-of-n, vanilla, linear, logit, kde, ..")] = "logit",
    score: ScoreName = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where to write the plan (JSON).")] = None,
    n: Annotated[
        int | None, typer.Option("--n", help="Use the first N samples a question: calibrate at the N you deploy.")
    ] = None,
    calibrate: Annotated[float, typer.Option(help="Share of the questions to fit on (the split of evaluate).")] = 1.0,
    rule: Annotated[
        str | None, typer.Option(help="linear, logit: bagged, exact, grid, likelihood or likelihood-slope.")
    ] = None,
    points: Annotated[int | None, typer.Option(help="linear, logit: points of the grid rule.")] = None,
    clip: Annotated[float | None, typer.Option(help="logit, kde: scores are kept this far from 0 and 1.")] = None,
    reliability: Annotated[str | None, typer.Option(help="kde: floored, printed (as in the paper) or fitted.")] = None,
    bandwidth: Annotated[float | None, typer.Option(help="kde: bandwidth in logits instead of Silverman's.")] = None,
    answers: Answers = "math",
    rename: Rename = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Learn from a labelled file what a score is worth, and write it down as a plan."""
    import steelyard as sy
    from steelyard.files import check_writable
    from steelyard.methods import configured

    settings = only_given(rule=rule, points=points, clip=clip, reliability=reliability, bandwidth=bandwidth)
    if "seed" in sy.method_class(method)().settings():
        settings["seed"] = seed
    voter = configured(method, settings)
    if voter.oracle:
        raise sy.SettingError(f"{method} is an oracle: it reads labels when it votes; measure it with 'evaluate'")
    if output:
        check_writable(output)
    with show.progress(f"Reading {file}") as progress:
        pool = sy.read(
            file, score=score, rename=renames(rename), answers=answers, need_score=voter.scored, progress=progress
        )
    if calibrate != 1.0:
        pool = pool.split(calibrate, seed=seed)[0]
    voter.fit(pool, n=n)
    if output:
        voter.save(output)
    if json:
        show.as_json(voter.summary())
        return
    names = {"accuracy": "accuracy on these questions", "standard_error": "its standard error"}
    found = voter.summary().items()
    rows = [(names.get(name, name), show.value(value)) for name, value in found if name != "mix" and value is not None]
    show.table(f"Fitted {method} on {file}", ("", "value"), rows)
    if voter.mix_:
        show.mix(voter.mix_)
    if hasattr(voter, "weight"):
        show.beam(voter.weight)
    show.say(f"Plan written to {output}" if output else "Not saved: add -o plan.json to keep this plan.")
