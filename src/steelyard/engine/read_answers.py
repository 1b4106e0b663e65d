"""`sy.read_answers`: the answers of a table, read by this process or by many workers.

Workers turn a folder of parts into a folder of the same rows with their answers, part by part. The kind of answers is
chosen once for all workers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.answers import annotated
from steelyard.answers.annotated import Reading, summarize
from steelyard.answers.doubtful_answers import PLACEHOLDERS
from steelyard.answers.extract import AUTO
from steelyard.answers.kind_choice import Evidence, KindChoice
from steelyard.answers.reader import AnswerReader
from steelyard.engine.engines import Engine
from steelyard.engine.input_parts import input_parts_of
from steelyard.engine.table_jobs import TableJob, TablePart, check_cut, seal_part
from steelyard.engine.with_engine import all_rows, folder_named, output_folder, with_engine
from steelyard.engine.worker_messages import WarningSummary, captured_warnings
from steelyard.foundation.errors import TableError
from steelyard.foundation.store_address import Place
from steelyard.runs.parts import is_parted_run, part_tables
from steelyard.tables.columns import check_columns
from steelyard.tables.layouts.long import Long
from steelyard.tables.responses import open_responses
from steelyard.tables.sources.file_checks import name_in_errors, reading
from steelyard.tables.table_answers import evidence_of, kind_of_run, settle_placeholders
from steelyard.tables.table_answers import read_answers as read_answers_alone

KEPT = 15  # classes with several spellings that are reported


@dataclass(frozen=True)
class AnswersOrder:
    """What every worker that reads answers gets."""

    answers: str
    rename: Mapping[str, str]
    layout: str
    only_unreadable: bool
    placeholders: frozenset[str] = frozenset()  # words that are not answers


@dataclass
class AnswersOfParts:
    """What was read from all parts."""

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
        """The content of summary.json, as `steelyard answers --json` prints it."""
        counts: dict[str, Any] = {"answers": self.kind, "reason": self.reason}
        counts |= {"responses": self.responses, "unreadable": self.unreadable, "undecided": self.undecided}
        share = max(1, self.responses)
        rules = sorted(self.rules.items(), key=lambda item: (-item[1], item[0]))
        listed = [{"rule": rule, "responses": count, "share": count / share} for rule, count in rules]
        counts |= {"cut": self.cut, "costly": self.costly}
        return counts | {"rules": listed, "classes": self.classes, "merged": self.merged}


@with_engine(read_answers_alone)
def read_answers(
    source: Any, *, engine: Engine, output: str | Path | None = None, workers: int | None = None, **options: Any
) -> Reading:
    """With `engine` ("ray", "ray:ADDRESS", "processes:2" or an object) many workers read, `workers` at once.

    `source` is then a folder of `partition`, or a run in parts, and `output` a folder for the rows of every part.
    """
    target = output_folder(output)
    answers_of_parts(folder_named(source), target, engine, workers=workers, **options)
    return summarize(all_rows(target))


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
    job = TableJob(input_parts_of(folder, engine, workers), target, "answers", settings, {})
    reason = reader.choice.reason if reader.choice else None
    result, notices = AnswersOfParts(kind=reader.kind.name, reason=reason), WarningSummary()
    for part in job.run(engine, answer_part, order, workers=workers, progress=progress):
        for name in ("responses", "unreadable", "undecided", "cut", "costly", "classes"):
            setattr(result, name, getattr(result, name) + part[name])
        result.rules.update(part["rules"])
        largest = sorted([*result.merged, *part["merged"]], key=lambda group: (-group["responses"], group["question"]))
        result.merged = largest[:KEPT]
        notices.add(part["part"], part["said"])
    notices.warn()
    job.summarise(result.summary())
    return result


def answer_part(order: AnswersOrder, part: TablePart) -> dict[str, Any]:
    """Read the answers of one part, write its rows with them and seal them, in a worker."""
    reader = AnswerReader(order.answers)
    reader.placeholders = order.placeholders
    with part.read.opened() as rows, captured_warnings() as warnings, name_in_errors(part.path) as name, reading(name):
        table = open_responses(rows, order.layout, dict(order.rename)).collect()
        check_columns(table.schema)
        try:
            result = annotated.read_answers(table, reader)
        finally:
            reader.close()
    summary = {
        "part": part.name, "responses": table.height, "unreadable": result.unreadable, "undecided": result.undecided,
        "cut": result.cut, "costly": result.costly, "rules": dict(result.rules.select("rule", "responses").rows()),
        "classes": result.merged.height, "merged": result.merged.head(KEPT).to_dicts(), "said": warnings,
    }  # fmt: skip
    lost = result.table.filter(pl.col("same_as").is_null())
    seal_part(part, lost if order.only_unreadable else result.table, summary)
    return summary


def reader_for(
    folder: Place, answers: str, layout: str | None, rename: dict[str, str] | None, *, named_kind: bool = True
) -> AnswerReader:
    """A reader that knows the kind of answers of all parts, by their first rows if need be, and the placeholders."""
    reader = AnswerReader(answers, named=named_kind)
    if is_parted_run(folder) and _has_kind(reader, folder, answers):
        return reader  # its answers were read out of its responses
    if answers == AUTO:
        _look(reader, folder, layout, rename)
    with suppress(TableError), reading(folder):  # a part that cannot be read is reported by its worker
        settle_placeholders(open_responses(str(folder), layout, rename), reader)
    if reader.placeholders is None:
        reader.placeholders = PLACEHOLDERS if reader.drops_placeholders else frozenset()
    return reader


def _has_kind(reader: AnswerReader, folder: Place, answers: str) -> bool:
    """Whether the kind of a run is named, or stored with the run."""
    choice = kind_of_run(str(folder)) if answers == AUTO else None
    if choice is not None:
        reader.look(lambda: choice)
    return answers != AUTO or choice is not None


def _look(reader: AnswerReader, folder: Place, layout: str | None, rename: dict[str, str] | None) -> None:
    """Decide the kind by all parts; if one cannot be read, which its worker reports, by the first that can."""
    try:
        with name_in_errors(str(folder)) as name, reading(name):
            reader.look(partial(_evidence, folder, layout, rename))
    except TableError:
        if is_parted_run(folder):
            raise
        for part in part_tables(folder)[1]:
            with suppress(TableError), reading(part):
                reader.look(partial(_evidence, part, layout, rename))
                return
        raise


def _evidence(place: Place, layout: str | None, rename: dict[str, str] | None) -> Evidence | KindChoice:
    return evidence_of(str(place), open_responses(str(place), layout, rename))
