"""steelyard simulate: a seeded table of responses and scores to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import show
from steelyard.cli.options import Overwrite, Seed

EXAMPLE = "Example: steelyard simulate --questions 500 --samples 32 --seed 0 -o responses.parquet"


def run(
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Where to write the table (.parquet, .jsonl, .csv).", show_default=False),
    ],
    questions: Annotated[int, typer.Option(help="How many questions.")] = 500,
    samples: Annotated[int, typer.Option(help="Responses per question.")] = 32,
    easy_share: Annotated[float, typer.Option(help="Share of easy questions.")] = 0.5,
    rivals: Annotated[int, typer.Option(help="Wrong answers per question.")] = 12,
    zipf: Annotated[float, typer.Option(help="How unevenly popular they are; 0 = uniform.")] = 1.2,
    dominating: Annotated[float, typer.Option(help="Share of questions with one systematic mistake.")] = 0.25,
    gap: Annotated[float, typer.Option(help="Logits between the scores of correct and incorrect responses.")] = 1.5,
    bias: Annotated[float, typer.Option(help="Logits added to every score.")] = 0.8,
    inconsistency: Annotated[
        float, typer.Option(help="How much scores differ between questions; 0 = pseudo-PRM.")
    ] = 1.0,
    saturated: Annotated[float, typer.Option(help="Share of scores that are exactly 0 or 1.")] = 0.03,
    unreadable: Annotated[float, typer.Option(help="Share of responses without a readable answer.")] = 0.02,
    bf16: Annotated[bool, typer.Option(help="Round scores to bfloat16.")] = True,
    seed: Seed = 0,
    overwrite: Overwrite = False,
) -> None:
    """Write a table of simulated responses with verifier scores and labels."""
    import steelyard as sy
    from steelyard.tables.writing import check_output, put
    from steelyard.tables.written import SIMULATED

    check_output(output, SIMULATED, overwrite=overwrite)
    world = sy.World(
        easy_share=easy_share, rivals=rivals, zipf=zipf, dominating=dominating, gap=gap, bias=bias,
        inconsistency=inconsistency, saturated=saturated, unreadable=unreadable, bf16=bf16,
    )  # fmt: skip
    table = sy.simulate(questions, samples, seed=seed, world=world)
    put(table, output)
    show.say(f"Wrote {table.height:,} simulated responses to {questions:,} questions: {output}")
