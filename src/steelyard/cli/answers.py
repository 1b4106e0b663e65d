"""steelyard answers: what was read out of the responses, and which answers are the same."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli.engine_options import EngineName, Workers, folder_for
from steelyard.cli.progress_display import progress_bar
from steelyard.cli.text_tables import print_table
from steelyard.evaluation.percentages import percent
from steelyard.foundation.store_address import Place, place_of

if TYPE_CHECKING:
    import polars as pl

    from steelyard.answers.annotated import Reading
    from steelyard.engine.read_answers import AnswersOfParts

EXAMPLE = "Example: steelyard answers responses.jsonl --answers choice -o read.parquet"
SHOWN, MOST_SHOWN = 15, 40
Row = dict[str, Any]


def _ends(rows: pl.DataFrame, end: str = "end") -> list[dict[str, str]]:
    """The question and the last words of each response, or the first ones (`end="start"`)."""
    text = "response" if "response" in rows.columns else "answer"
    words = rows[text].cast(str).fill_null("").str.strip_chars()
    shown = words.str.head(200) if end == "start" else words.str.tail(200)
    return [{"question": str(question), end: part} for question, part in zip(rows["question"], shown, strict=True)]


def run(
    files: opt.Files,
    answers: opt.Answers = "auto",
    output: Annotated[
        Path | None, opt.output_option("the table with answer, rule and class; with --engine, a folder")
    ] = None,
    unreadable: Annotated[
        bool, typer.Option("--only-unreadable", help="Show (and write) only the responses without a readable answer.")
    ] = False,
    rename: opt.Rename = None,
    layout: opt.LayoutName = None,
    engine: EngineName = None,
    workers: Workers = None,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Show which answers were extracted from a file, by which rule, and which of them are equal."""
    import steelyard as sy
    from steelyard.answers.extract import kind_of
    from steelyard.tables.writing import ANSWERS, check_output, put

    folder = folder_for(files, output, engine, workers, overwrite)
    if folder and output and engine:
        _over_parts(
            folder, place_of(output), engine, json, answers=answers, only_unreadable=unreadable,
            rename=opt.renames(rename), layout=layout, workers=workers,
        )  # fmt: skip
        return
    if output:
        check_output(output, ANSWERS, inputs=files, overwrite=overwrite)
    with progress_bar(f"Reading {opt.title_of(files)}") as progress:
        reading = sy.read_answers(
            opt.source_of(files), answers=answers, rename=opt.renames(rename), layout=layout, progress=progress
        )
    kind = kind_of(str(reading.kind))
    end = "end" if kind.similarity is None else "start"  # where a response states its answer, or declines to
    lost = reading.table.filter(reading.table["same_as"].is_null())
    if output:
        put(lost if unreadable else reading.table, output)
    size = reading.table.height
    if json:
        console.as_json(
            {"answers": reading.kind, "reason": reading.reason, "responses": size, "unreadable": reading.unreadable}
            | {"undecided": reading.undecided, "cut": reading.cut, "costly": reading.costly}
            | ({"responses_unreadable": _ends(lost, end)} if unreadable else {})
            | {"rules": reading.rules.to_dicts(), "merged": reading.merged.to_dicts()}
        )
        return
    if unreadable:
        shown = [(row["question"], console.shortened(row[end], 100)) for row in _ends(lost[:MOST_SHOWN], end)]
        title = f"{lost.height:,} of {size:,} responses {kind.unreadable}; the {end}s of the first few"
        print_table(title, ("question", f"{end} of the response"), shown, text=True)
        console.say(
            f"Table written to {place_of(output)}"
            if output
            else "Not saved: add -o unreadable.parquet to keep them all."
        )
        return
    named = shlex.join(str(place_of(file)) for file in files)
    option = f" --answers {shlex.quote(answers)}" if answers != "auto" else ""
    merged = reading.merged.head(SHOWN).to_dicts()
    hint = f"To see them: steelyard answers {named}{option} --only-unreadable"
    _show(reading, size, reading.rules.to_dicts(), reading.merged.height, merged, hint)
    if kind.similarity is not None:
        repeated = (
            size - reading.unreadable - reading.table.drop_nulls("same_as").select("question", "same_as").n_unique()
        )
        console.say(f"Answers are compared by similarity; {repeated:,} repeat another of their question word for word.")
    console.say(
        f"Table written to {place_of(output)}" if output else "Not saved: add -o read.parquet to keep the table."
    )


def _over_parts(folder: Place, output: Place, engine: str, json: bool, **options: Any) -> None:
    """Let an engine read the answers of a folder of parts, and say what came of it."""
    from steelyard.engine.engines import engine_of
    from steelyard.engine.read_answers import answers_of_parts

    with progress_bar(f"Reading {folder}") as progress:
        reading = answers_of_parts(folder, output, engine_of(engine), progress=progress, **options)
    summary = reading.summary()
    if json:
        console.as_json(summary)
        return
    _show(reading, reading.responses, summary["rules"], reading.classes, reading.merged)
    console.say(f"Tables written to {output}, one part per input part")


def _show(
    reading: Reading | AnswersOfParts, size: int, rules: list[Row], classes: int, merged: list[Row], hint: str = ""
) -> None:
    """Print how answers were read, some that are the same in several spellings, and those that are in doubt."""
    console.say(f"{reading.kind}: {reading.reason or 'set with --answers'}")
    rows = [(row["rule"], f"{row['responses']:,}", percent(row["share"])) for row in rules]
    print_table(f"How {size:,} answers were read", ("rule", "responses", "%"), rows)
    merges = [
        (row["question"], str(row["responses"]), console.shortened("  =  ".join(row["spellings"]))) for row in merged
    ]
    if merges:
        title = f"The same answer in several spellings: the first of {classes:,}"
        print_table(title, ("question", "responses", "spellings"), merges)
    part = percent(reading.unreadable / max(1, size))
    from steelyard.answers.extract import kind_of

    without = kind_of(str(reading.kind)).unreadable
    console.say(f"{reading.unreadable:,} responses {without} ({part} %); they cast no vote.")
    if reading.cut:
        console.say(f"{reading.cut:,} of these were cut off by their length limit before they marked an answer.")
    if reading.unreadable and hint:
        console.say(hint)
    if reading.undecided:
        console.say(f"{reading.undecided:,} answers could not be compared in time and count as different answers.")
    if reading.costly:
        console.say(f"{reading.costly:,} answers are too long to parse and are compared as text.")
