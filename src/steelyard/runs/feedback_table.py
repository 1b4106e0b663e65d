"""A folder of feedback -> FOLDER/table.parquet: one row per sample of every labelled request, as `fit` reads it.

A request that was called wrong, without the correct answer, is labelled all the same: left out, only those would stay
on which the vote was correct. Its other answers count as wrong too, which is said.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import polars as pl

from steelyard.foundation.errors import RunError, SteelyardWarning
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.runs.derived_table import position
from steelyard.runs.feedback_folder import JOURNAL, LABEL, REQUEST, Record, read_settings, records
from steelyard.runs.losses import lost
from steelyard.runs.seal import read_seal, sealed, write_sealed

TABLE = "table.parquet"
LAYOUT = 1  # of the table; another one is derived anew


def labelled_table(folder: Path) -> Path:
    """Return the path of the table of a folder, derived anew unless it is as new as the journal."""
    path, made_from = folder / TABLE, {"layout": LAYOUT, "journal": position(folder / JOURNAL)}
    seal = sealed(path)
    if seal is None or any(seal.get(name) != value for name, value in made_from.items()):
        settings, requests, labels = read_settings(folder), *_labelled(folder)
        vague = sum(_is_vague(requests[name], labels[name]) for name in labels)
        frame = _frame(requests, labels, settings.score)
        if less := lost(path, {"rows": frame.height}):
            raise RunError(
                f"{folder / JOURNAL} holds less than {TABLE} was made from ({less}): restore the journal, or name "
                f"{path} instead of the folder"
            )
        write_sealed(path, lambda target: _written(frame, target), made_from | {"vague": vague})
    told = read_seal(path) or {}
    if not told.get("rows"):
        raise RunError(f"{folder} has no labels yet: send some to the server with POST /v1/feedback")
    if vague := int(told.get("vague") or 0):
        warnings.warn(
            f"{vague:,} requests were called wrong without the correct answer: their other answers count as wrong too; "
            "send the answer with the label to learn from them", SteelyardWarning, stacklevel=2,
        )  # fmt: skip
    return path


def _labelled(folder: Path) -> tuple[dict[str, Record], dict[str, Record]]:
    """The requests that have a label, and their last ones."""
    labels = {each["question"]: each for each in records(folder) if each["kind"] == LABEL}
    requests = {
        each["question"]: each for each in records(folder) if each["kind"] == REQUEST and each["question"] in labels
    }
    labels = {name: label for name, label in labels.items() if name in requests}
    for name, label in labels.items():
        if len(label["correct"]) != len(requests[name]["answers"]):
            raise RunError(f"{folder / JOURNAL} labels {name} with other answers than it has: restore the journal")
    return requests, labels


def _is_vague(request: Record, label: Record) -> bool:
    return label.get("gold") is None and not label["verdict"] and len(request["answers"]) > 1


def _frame(requests: dict[str, Record], labels: dict[str, Record], score: str) -> pl.DataFrame:
    rows = [
        {
            "question": name,
            "sample": sample["sample"],
            "prompt": _tame(requests[name].get("prompt")),
            "llm": _tame(sample.get("llm")),
            "response": _tame(sample.get("response")),
            "tokens": sample["tokens"],
            "answer": None if sample["answer"] is None else _tame(requests[name]["answers"][sample["answer"]]),
            "correct": sample["answer"] is not None and labels[name]["correct"][sample["answer"]],
            score: sample["score"],
        }
        for name in labels
        for sample in requests[name]["samples"]
    ]
    kinds = {"sample": pl.Int64(), "tokens": pl.Int64(), "correct": pl.Boolean(), score: pl.Float64()}
    names = ("question", "sample", "prompt", "llm", "response", "tokens", "answer", "correct", score)
    frame = pl.DataFrame(rows, pl.Schema({name: kinds.get(name, pl.String()) for name in names}))
    unkept = [name for name in ("prompt", "response", score) if frame[name].null_count() == frame.height]
    return frame.drop(unkept)


def _written(frame: pl.DataFrame, path: Path) -> int:
    frame.write_parquet(path)
    return frame.height


def _tame(text: str | None) -> str | None:
    return None if text is None else replace_surrogates(text)
