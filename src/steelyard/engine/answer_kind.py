"""The kind of answers of a folder of parts, settled once for all workers."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from steelyard.answers.auto_kind import Evidence
from steelyard.answers.doubtful_answers import PLACEHOLDERS
from steelyard.answers.extract import AUTO
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.errors import TableError
from steelyard.foundation.store_address import Place
from steelyard.runs.parts import is_parted_run, part_tables
from steelyard.tables.responses import open_responses
from steelyard.tables.sources.file_checks import name_in_errors, reading
from steelyard.tables.table_answers import evidence_in, kind_of_run, settle_placeholders


def reader_for(
    folder: Place, answers: str, layout: str | None, rename: dict[str, str] | None, *, named_kind: bool = True
) -> AnswerReader:
    """A reader that knows the kind of answers of all parts, by their first rows if need be, and the placeholders."""
    reader = AnswerReader(answers, named=named_kind)
    if is_parted_run(folder) and _known(reader, folder, answers):
        return reader  # its answers were read out of its responses
    if answers == AUTO:
        _look(reader, folder, layout, rename)
    with suppress(TableError), reading(folder):  # a part that cannot be read is reported by its worker
        settle_placeholders(open_responses(str(folder), layout, rename), reader)
    if reader.placeholders is None:
        reader.placeholders = PLACEHOLDERS if reader.drops_placeholders else frozenset()
    return reader


def _known(reader: AnswerReader, folder: Place, answers: str) -> bool:
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


def _evidence(place: Place, layout: str | None, rename: dict[str, str] | None) -> Evidence:
    return evidence_in(open_responses(str(place), layout, rename))
