"""steelyard vote: decide every question of a file by a fitted plan."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli import show
from steelyard.cli.options import Answers, File, Json, Rename, ScoreName, renames

EXAMPLE = "Example: steelyard vote responses.parquet --plan plan.json -o verdicts.parquet"
SHOWN = 10


def run(
    file: File,
    plan: Annotated[Path | None, typer.Option(help="A plan made by 'steelyard fit'; without one: --method.")] = None,
    method: Annotated[str, typer.Option(help="Without a plan: majority, vanilla or best-of-n.")] = "majority",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write the verdicts (.parquet, .jsonl, .csv).")
    ] = None,
    score: ScoreName = None,
    n: Annotated[int | None, typer.Option("--n", help="Use the first N samples per question.")] = None,
    risk: Annotated[
        float | None, typer.Option(help="Answer only where the error stays within this, 0.1 say; else null.")
    ] = None,
    sure: Annotated[float, typer.Option(help="With --risk: how surely it must.")] = 0.9,
    answers: Answers = "math",
    rename: Rename = None,
    json: Json = False,
) -> None:
    """Decide every question of a file by a fitted plan, or by a method that needs none; labels are not read."""
    import steelyard as sy
    from steelyard.jobs.vote import (
        abstaining,
        decide_file,
        promised,
        unfitted,
    )
    from steelyard.tables.writing import check_output

    if output:
        check_output(output)
    voter = sy.load(plan) if plan else unfitted(method)
    held = promised(voter, risk, sure) if risk is not None else None
    with show.progress(f"Reading {file}") as progress:
        verdicts = decide_file(
            voter, file, score=score, n=n, rename=renames(rename), answers=answers, progress=progress
        )
    empty = verdicts["answer"].null_count()
    if held:
        verdicts = abstaining(verdicts, held.threshold)
    if output:
        sy.write(verdicts, output)
    if json:
        listed: dict[str, Any] = {} if output else {"verdicts": verdicts.to_dicts()}
        listed |= {"promise": asdict(held), "answered": int(verdicts["answered"].sum())} if held else {}
        show.as_json({"method": voter.name, "questions": verdicts.height, "without_answer": empty, **listed})
        return
    columns = ("question", "answer", "confidence", "share", "margin", "votes")
    rows = [
        (show.shortened(q, 40), show.shortened(str(a), 40), show.percent(c), show.percent(s), f"{m:.2f}", str(v))
        for q, a, c, s, m, v in verdicts.select(columns).head(SHOWN).iter_rows()
    ]
    heads = ("question", "answer", "confidence %", "share %", "margin", "votes")
    show.table(f"The first verdicts of {verdicts.height}, by {voter.name}", heads, rows)
    if held:
        share = int(verdicts["answered"].sum()) / max(1, verdicts.height)
        show.say(
            f"Answered {share:.0%} of the questions, those with a confidence of {held.threshold:.0%} or more: at most "
            f"{held.risk:.0%} of these are wrong, with a probability of {held.sure:.0%}, if the questions are like the "
            f"{held.questions} reserved ones ({held.coverage:.0%} answered, {held.error:.1%} wrong there)."
        )
    if empty:
        show.say(f"{empty} questions have no readable answer: their verdict is null.")
    show.say(f"Verdicts written to {output}" if output else "Not saved: add -o verdicts.parquet to keep them.")
