"""steelyard compare: two methods, plans or files on the same questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import show
from steelyard.cli.options import Answers, Json, Rename, ScoreName, Seed, SourceName, renames
from steelyard.evaluation.percentages import percent, points

EXAMPLE = "Example: steelyard compare logit majority --on labelled.parquet"
SHOWN = 10


def run(
    a: Annotated[str, typer.Argument(help="A method, a plan (.json), a file of verdicts or of responses.")],
    b: Annotated[str, typer.Argument(help="What to compare it with: the same kinds.")],
    on: Annotated[Path | None, typer.Option(help="Labelled responses that methods and plans vote on.")] = None,
    method: Annotated[
        str | None,
        typer.Option(help="How files of responses are voted on; default: calibrated, with --source committee."),
    ] = None,
    score: ScoreName = None,
    source: SourceName = None,
    calibrate: Annotated[float, typer.Option(help="Share of the questions methods are fitted on.")] = 0.3,
    n: Annotated[int | None, typer.Option("--n", help="Use the first N samples per question.")] = None,
    answers: Answers = "math",
    rename: Rename = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Say which of two voters is better on the same questions, by how much, and where they differ."""
    from steelyard.jobs.compare import compare

    options = {"score": score, "source": source, "answers": answers, "rename": renames(rename)}
    found = compare(a, b, on=on, method=method, calibrate=calibrate, seed=seed, n=n, **options)
    differing = found.differing()
    figures = {}
    if found.labelled:
        values = (*found.accuracies(seed), found.difference(seed))
        figures = {
            name: {"value": float(v), "se": v.se, "low": v.low, "high": v.high}
            for name, v in zip(("a", "b", "difference"), values, strict=True)
        }
    if json:
        sizes = {"questions": found.table.height, "differing": differing.to_dicts()}
        show.as_json({"names": list(found.names), **figures, **sizes})
        return
    labels = dict(zip(("a", "b", "difference"), (*found.names, "difference"), strict=True))
    rows = [
        (labels[k], *(points(f[x]) if k == "difference" else percent(f[x]) for x in ("value", "low", "high")))
        for k, f in figures.items()
    ]
    show.table(f"{found.table.height} questions decided by both (%)", ("", "accuracy", "from", "to"), rows)
    heads = ("question", *found.names)
    told = [(show.shortened(q, 40), _told(x, r), _told(y, s)) for q, x, r, y, s in differing.head(SHOWN).iter_rows()]
    show.table(f"They differ on {differing.height}; the first of them", heads, told)


def _told(answer: str | None, correct: bool | None) -> str:
    """An answer, and whether it is correct where that is known."""
    return show.shortened(str(answer), 30) + {True: " (correct)", False: "", None: ""}[correct]
