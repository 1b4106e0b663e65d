"""steelyard answers: what was read out of the responses, and which answers are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from steelyard.cli import show
from steelyard.cli.options import Answers, File, Json, Rename, output_option, renames
from steelyard.evaluation.percentages import percent

EXAMPLE = "Example: steelyard answers responses.jsonl --answers math -o read.parquet"
SHOWN = 15


def run(
    file: File,
    answers: Answers = "math",
    output: Annotated[Path | None, output_option("the table with answer, rule and class")] = None,
    rename: Rename = None,
    json: Json = False,
) -> None:
    """Show which answers were read out of a file, by which rule, and which of them are the same."""
    import steelyard as sy
    from steelyard.tables.writing import check_output

    if output:
        check_output(output)
    with show.progress(f"Reading {file}") as progress:
        found = sy.read_answers(file, answers=answers, rename=renames(rename), progress=progress)
    if output:
        sy.write(found.table, output)
    size = found.table.height
    if json:
        show.as_json(
            {"responses": size, "unreadable": found.unreadable, "undecided": found.undecided, "costly": found.costly}
            | {"rules": found.rules.to_dicts(), "merged": found.merged.to_dicts()}
        )
        return
    rows = [(rule, f"{count:,}", percent(share)) for rule, count, share in found.rules.iter_rows()]
    show.table(f"How {size:,} answers were found", ("rule", "responses", "%"), rows)
    merges = [
        (question, str(count), show.shortened("  =  ".join(spellings)))
        for question, _, spellings, count in found.merged.head(SHOWN).iter_rows()
    ]
    if merges:
        title = f"The same answer in several spellings: the first of {found.merged.height:,}"
        show.table(title, ("question", "responses", "spellings"), merges)
    show.say(f"{found.unreadable:,} responses have no readable answer; they cast no vote.")
    if found.undecided:
        show.say(f"{found.undecided:,} answers could not be told from another one in time: they stay apart.")
    if found.costly:
        show.say(f"{found.costly:,} answers are too costly to read for their length: they are compared as written.")
    show.say(f"Table written to {output}" if output else "Not saved: add -o read.parquet to keep the table.")
