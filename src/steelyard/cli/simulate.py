"""steelyard simulate: a seeded table of responses and scores to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import console
from steelyard.cli.options import Json, Overwrite, Seed, n_option, output_option
from steelyard.foundation.store_address import place_of

EXAMPLE = "Example: steelyard simulate --questions 500 -n 32 --seed 0 -o responses.parquet"


def run(
    output: Annotated[Path, output_option("the table (.parquet, .jsonl, .csv)")],
    questions: Annotated[int, typer.Option(metavar="COUNT", help="How many questions.")] = 500,
    n: Annotated[int, n_option()] = 32,
    easy_share: Annotated[float, typer.Option(metavar="SHARE", help="Share of easy questions.")] = 0.5,
    rivals: Annotated[int, typer.Option(metavar="COUNT", help="Wrong answers per question.")] = 12,
    zipf: Annotated[float, typer.Option(metavar="EXPONENT", help="Zipf exponent of their counts; 0: uniform.")] = 1.2,
    dominating: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of questions with one systematic mistake.")
    ] = 0.25,
    gap: Annotated[
        float, typer.Option(metavar="LOGITS", help="Logits that separate correct from incorrect scores.")
    ] = 1.5,
    bias: Annotated[float, typer.Option(metavar="LOGITS", help="Logits added to every score.")] = 0.8,
    inconsistency: Annotated[
        float, typer.Option(metavar="SD", help="How much scores differ between questions; 0 = pseudo-PRM.")
    ] = 1.0,
    saturated: Annotated[float, typer.Option(metavar="SHARE", help="Share of scores that are exactly 0 or 1.")] = 0.03,
    unreadable: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of responses without a readable answer.")
    ] = 0.02,
    bf16: Annotated[bool, typer.Option(help="Round scores to bfloat16.")] = True,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Write a table of simulated responses with verifier scores and labels."""
    import steelyard as sy
    from steelyard.tables.writing import SIMULATED, check_output, put
    from steelyard.voting.pools.simulated import World

    check_output(output, SIMULATED, overwrite=overwrite)
    world = World(
        easy_share=easy_share, rivals=rivals, zipf=zipf, dominating=dominating, gap=gap, bias=bias,
        inconsistency=inconsistency, saturated=saturated, unreadable=unreadable, bf16=bf16,
    )  # fmt: skip
    table = sy.simulate(questions, n, seed=seed, world=world)
    put(table, output)
    if json:
        console.as_json(
            {"table": str(place_of(output)), "questions": questions, "responses": table.height, "seed": seed}
        )
        return
    console.say(f"Wrote {table.height:,} simulated responses to {questions:,} questions: {place_of(output)}")
