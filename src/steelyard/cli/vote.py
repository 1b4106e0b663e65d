"""steelyard vote: decide every question of a file by a fitted plan."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import console
from steelyard.cli import options as opt
from steelyard.cli.engine_options import EngineName, Workers, folder_for
from steelyard.cli.progress_display import progress_bar
from steelyard.cli.text_tables import print_table
from steelyard.evaluation.percentages import percent
from steelyard.foundation.errors import SettingError
from steelyard.foundation.store_address import place_of

if TYPE_CHECKING:
    import polars as pl

    from steelyard.engine.vote_parts import VotedParts
    from steelyard.foundation.store_address import Place
    from steelyard.tables.vote import VoteDetails
    from steelyard.voting.confidence.answer_sets import AnswerSetThreshold
    from steelyard.voting.confidence.risk_control import RiskControl

EXAMPLE = "Example: steelyard vote responses.parquet --plan plan.json -o verdicts.parquet"
SHOWN = 10


def run(
    files: opt.Files,
    plan: opt.Plan = None,
    method: Annotated[
        list[str] | None,
        opt.method_option(
            "Without a plan: any that needs no labels, such as vanilla. Default: majority; consensus with --source."
        ),
    ] = None,
    output: Annotated[
        Path | None, opt.output_option("the verdicts (.parquet, .jsonl, .csv); with --engine, a folder")
    ] = None,
    score: opt.ScoreName = None,
    source: opt.SourceName = None,
    n: Annotated[int | None, opt.n_option("Uses the first N. Default: all")] = None,
    risk: Annotated[
        float | None,
        opt.option(
            "--risk", "SHARE", "Answer only where the error rate stays within this, such as 0.1; otherwise null."
        ),
    ] = None,
    confidence_level: Annotated[
        float, typer.Option(metavar="P", help="With --risk: probability that the error rate stays within it.")
    ] = 0.9,
    answer_sets: Annotated[
        float | None,
        opt.option(
            "--answer-sets",
            "SHARE",
            "Add lists of answers that contain the correct one, except for this share of the questions.",
        ),
    ] = None,
    answers: opt.Answers = "auto",
    rename: opt.Rename = None,
    layout: opt.LayoutName = None,
    engine: EngineName = None,
    workers: Workers = None,
    overwrite: opt.Overwrite = False,
    json: opt.Json = False,
) -> None:
    """Decide every question of a file by a fitted plan, or by a method that needs none; labels are not read."""
    from steelyard.tables.vote import vote_with_details
    from steelyard.tables.writing import VERDICTS, check_output, put

    folder = folder_for(files, output, engine, workers, overwrite)
    options: dict[str, Any] = {
        "method": opt.one_name(method, "--method"),
        "risk": risk,
        "score": score,
        "source": source,
    }
    options |= {"confidence_level": confidence_level, "n": n, "rename": opt.renames(rename), "layout": layout}
    options |= {"answers": answers, "answer_sets": answer_sets}
    if answer_sets is not None and output and output.suffix.lower() == ".csv":
        raise SettingError(
            f"answer sets are lists, which a CSV file cannot hold: use -o {output.stem}.parquet or .jsonl"
        )
    if folder and output and engine:
        from steelyard.engine.engines import engine_of
        from steelyard.engine.vote_parts import vote_parts

        with progress_bar(f"Voting on {folder}") as progress:
            parts = vote_parts(
                folder, place_of(output), engine_of(engine), plan=plan, workers=workers, progress=progress, **options
            )
        show_voted_parts(parts, place_of(output), json)
        return
    if output:
        check_output(output, VERDICTS, inputs=[*files, plan], overwrite=overwrite)
    with progress_bar(f"Reading {opt.title_of(files)}") as progress:
        result = vote_with_details(opt.source_of(files), plan, progress=progress, **options)
    if output:
        put(result.verdicts, output)
    show_verdicts(result, place_of(output) if output else None, json)


def show_verdicts(result: VoteDetails, output: Place | None, json: bool) -> None:
    """Print the first verdicts, which part was answered and where they were written."""
    verdicts, voter, empty, control, sets = result
    if json:
        listed: dict[str, Any] = {} if output else {"verdicts": verdicts.to_dicts()}
        listed |= {"risk_control": asdict(control), "answered": int(verdicts["answered"].sum())} if control else {}
        listed |= {"answer_sets": asdict(sets), "mean_set_size": _set_size(verdicts)} if sets else {}
        console.as_json({"method": voter.name, "questions": verdicts.height, "without_answer": empty, **listed})
        return
    learned = verdicts["confidence"].null_count() < verdicts.height
    rows = [
        (
            console.shortened(row["question"], 40),
            console.shortened(str(row["answer"]), 40),
            *([percent(row["confidence"])] if learned else []),
            percent(row["share"]),
            f"{row['margin']:.2f}",
            str(row["votes"]),
        )
        for row in verdicts.head(SHOWN).iter_rows(named=True)
    ]
    heads = ("question", "answer", *(["confidence %"] if learned else []), "share %", "margin", "votes")
    all_of = f"The first {SHOWN} of {verdicts.height:,} verdicts" if verdicts.height > SHOWN else "The verdicts"
    print_table(f"{all_of}, by {voter.name}", heads, rows)
    if control:
        console.say(_answered(control, int(verdicts["answered"].sum()), verdicts.height))
    if sets:
        console.say(_sets(sets, verdicts))
    if empty:
        console.say(f"{empty} questions have no readable answer: their verdict is null.")
    console.say(f"Verdicts written to {output}" if output else "Not saved: add -o verdicts.parquet to keep them.")


def show_voted_parts(result: VotedParts, output: Place, json: bool) -> None:
    """Print what became of all parts of a folder."""
    if json:
        console.as_json(result.summary())
        return
    console.say(f"{result.questions:,} questions decided by {result.voter.name}, from {result.responses:,} responses")
    if result.risk_control:
        console.say(_answered(result.risk_control, result.answered, result.questions))
    if result.answer_sets:
        console.say(_sets(result.answer_sets))
    if result.without_answer:
        console.say(f"{result.without_answer:,} questions have no readable answer: their verdict is null.")
    console.say(f"Verdicts written to {output}, one part per input part")


def _set_size(verdicts: pl.DataFrame) -> float:
    return float(verdicts["answer_set"].list.len().to_numpy().mean())


def _sets(sets: AnswerSetThreshold, verdicts: pl.DataFrame | None = None) -> str:
    size = "" if verdicts is None else f" Sets have {_set_size(verdicts):.2f} answers on average."
    return (
        f"The column answer_set contains the correct answer with a probability of at least {1 - sets.alpha:.0%}, if "
        f"the questions are like the {sets.questions} reserved ones (on {sets.never_sampled} of these it was never "
        "sampled)."
        f"{size}"
    )


def _answered(control: RiskControl, answered: int, questions: int) -> str:
    return (
        f"Answered {answered / max(1, questions):.0%} of the questions, those with a confidence of "
        f"{control.threshold:.0%} or more: at most {control.risk:.0%} of these are wrong, with a probability of "
        f"{control.confidence_level:.0%}, if the questions are like the {control.questions} reserved ones "
        f"({control.coverage:.0%} answered, {control.error:.1%} wrong there)."
    )
