"""Derive FOLDER/table.parquet from feedback: one row per sample of every labelled request, as `fit` reads it.

A request that was labelled wrong without the correct answer is included: without such requests only those on which the
vote was correct would remain. Its other answers count as wrong too, and a warning says so.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import polars as pl

from steelyard.foundation.errors import RunError, SteelyardWarning
from steelyard.runs.derived_table import position, storable
from steelyard.runs.feedback_journal import JOURNAL, LABEL, REQUEST, Record, records
from steelyard.runs.feedback_settings import read_settings
from steelyard.runs.seal import is_made_from, read_seal, sealed, shortfall, write_sealed_table

TABLE = "table.parquet"
LAYOUT = 1  # version of the table; a table of another version is derived again


def labelled_table(folder: Path) -> Path:
    """Return the path of the table of a folder, derived again unless it is up to date."""
    path, made_from = folder / TABLE, {"layout": LAYOUT, "journal": position(folder / JOURNAL)}
    if not is_made_from(sealed(path), made_from):
        settings, requests, labels = read_settings(folder), *_labelled(folder)
        vague = sum(_is_vague(requests[name], labels[name]) for name in labels)
        frame = _frame(requests, labels, settings.score)
        if missing := shortfall(path, {"rows": frame.height}):
            raise RunError(
                f"{folder / JOURNAL} contains less than {TABLE} was made from ({missing}): restore the journal, or use "
                f"{path} instead of the folder"
            )
        write_sealed_table(path, frame, made_from | {"vague": vague})
    contents = read_seal(path) or {}
    if not contents.get("rows"):
        raise RunError(f"{folder} has no labels yet: send some to the server with POST /v1/feedback")
    if vague := int(contents.get("vague") or 0):
        warnings.warn(
            f"{vague:,} requests were labelled wrong without a correct answer: their other answers count as wrong too; "
            "send the correct answer with the label to learn from them", SteelyardWarning, stacklevel=2,
        )  # fmt: skip
    return path


def _labelled(folder: Path) -> tuple[dict[str, Record], dict[str, Record]]:
    """The labelled requests, and the last label of each."""
    labels = {record["question"]: record for record in records(folder) if record["kind"] == LABEL}
    requests = {
        record["question"]: record
        for record in records(folder)
        if record["kind"] == REQUEST and record["question"] in labels
    }
    labels = {name: label for name, label in labels.items() if name in requests}
    for name, label in labels.items():
        if len(label["correct"]) != len(requests[name]["answers"]):
            raise RunError(
                f"{folder / JOURNAL} labels {name} with a different number of answers than it has: restore the journal"
            )
    return requests, labels


def _is_vague(request: Record, label: Record) -> bool:
    return label.get("gold") is None and not label["verdict"] and len(request["answers"]) > 1


def _frame(requests: dict[str, Record], labels: dict[str, Record], score: str) -> pl.DataFrame:
    rows = [
        {
            "question": name,
            "sample": sample["sample"],
            "prompt": storable(requests[name].get("prompt")),
            "llm": storable(sample.get("llm")),
            "response": storable(sample.get("response")),
            "tokens": sample["tokens"],
            "answer": None if sample["answer"] is None else storable(requests[name]["answers"][sample["answer"]]),
            "correct": sample["answer"] is not None and labels[name]["correct"][sample["answer"]],
            score: sample["score"],
        }
        for name in labels
        for sample in requests[name]["samples"]
    ]
    kinds = {"sample": pl.Int64(), "tokens": pl.Int64(), "correct": pl.Boolean(), score: pl.Float64()}
    names = ("question", "sample", "prompt", "llm", "response", "tokens", "answer", "correct", score)
    frame = pl.DataFrame(rows, pl.Schema({name: kinds.get(name, pl.String()) for name in names}))
    empty = [name for name in ("prompt", "response", score) if frame[name].null_count() == frame.height]
    return frame.drop(empty)
