"""A folder of parts -> a folder of the same rows with their answers, part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from steelyard.answers import annotated
from steelyard.answers.extract import AUTO
from steelyard.answers.reader import AnswerReader
from steelyard.engine.answer_kind import reader_for
from steelyard.engine.engines import Engine
from steelyard.engine.part_warnings import ToldOnce, caught
from steelyard.engine.parts_job import PartsJob, TablePart, check_cut, seal_part
from steelyard.engine.parts_read import parts_read
from steelyard.foundation.store_address import Place
from steelyard.tables.columns import check_columns
from steelyard.tables.layouts.long import Long
from steelyard.tables.responses import open_responses
from steelyard.tables.sources.file_checks import name_in_errors, reading

KEPT = 15  # classes with several spellings that are told of


@dataclass(frozen=True)
class AnswersOrder:
    """What every worker that reads answers is told."""

    answers: str
    rename: Mapping[str, str]
    layout: str
    only_unreadable: bool
    placeholders: frozenset[str] = frozenset()  # words that are no answers


@dataclass
class AnswersOfParts:
    """What was read out of all parts."""

    responses: int = 0
    unreadable: int = 0
    undecided: int = 0
    cut: int = 0
    costly: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    classes: int = 0  # with several spellings
    merged: list[dict[str, Any]] = field(default_factory=list)  # the largest of these
    kind: str | None = None
    reason: str | None = None

    def summary(self) -> dict[str, Any]:
        """What summary.json says, in the words of `steelyard answers --json`."""
        counts: dict[str, Any] = {"answers": self.kind, "reason": self.reason}
        counts |= {"responses": self.responses, "unreadable": self.unreadable, "undecided": self.undecided}
        share = max(1, self.responses)
        rules = sorted(self.rules.items(), key=lambda each: (-each[1], each[0]))
        told = [{"rule": rule, "responses": count, "share": count / share} for rule, count in rules]
        counts |= {"cut": self.cut, "costly": self.costly}
        return counts | {"rules": told, "classes": self.classes, "merged": self.merged}


def answers_of_parts(
    folder: Place,
    target: Place,
    engine: Engine,
    *,
    answers: str = AUTO,
    only_unreadable: bool = False,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> AnswersOfParts:
    """Read and group the answers of a folder of parts; the options are those of `steelyard answers`."""
    layout = layout or Long.name
    check_cut(folder, {"layout": layout, "rename": rename})
    reader = reader_for(folder, answers, layout, rename)
    order = AnswersOrder(
        reader.kind.name, rename or {}, layout, only_unreadable, reader.placeholders or frozenset()
    )  # fmt: skip
    settings = {name: value for name, value in vars(order).items() if name != "placeholders"}
    job = PartsJob(parts_read(folder, engine, workers), target, "answers", settings, {})
    reason = reader.choice.reason if reader.choice else None
    found, told = AnswersOfParts(kind=reader.kind.name, reason=reason), ToldOnce()
    for part in job.run(engine, answer_part, order, workers=workers, progress=progress):
        for name in ("responses", "unreadable", "undecided", "cut", "costly", "classes"):
            setattr(found, name, getattr(found, name) + part[name])
        found.rules.update(part["rules"])
        largest = sorted([*found.merged, *part["merged"]], key=lambda each: (-each["responses"], each["question"]))
        found.merged = largest[:KEPT]
        told.hear(part["part"], part["said"])
    told.tell()
    job.summarise(found.summary())
    return found


def answer_part(order: AnswersOrder, part: TablePart) -> dict[str, Any]:
    """Read the answers of one part, write its rows with them and seal them; what a worker does."""
    reader = AnswerReader(order.answers)
    reader.placeholders = order.placeholders
    with part.read.opened() as rows, caught() as said, name_in_errors(part.path) as name, reading(name):
        table = open_responses(rows, order.layout, dict(order.rename)).collect()
        check_columns(table.schema)
        try:
            found = annotated.read_answers(table, reader)
        finally:
            reader.close()
    summary = {
        "part": part.name, "responses": table.height, "unreadable": found.unreadable, "undecided": found.undecided,
        "cut": found.cut, "costly": found.costly, "rules": dict(found.rules.select("rule", "responses").rows()),
        "classes": found.merged.height, "merged": found.merged.head(KEPT).to_dicts(), "said": said,
    }  # fmt: skip
    lost = found.table.filter(pl.col("same_as").is_null())
    seal_part(part, lost if order.only_unreadable else found.table, summary)
    return summary
