"""The kind of answers of a folder of parts, settled once for all workers."""

from __future__ import annotations

from contextlib import suppress

from steelyard.answers.extract import AUTO
from steelyard.answers.placeholders import PLACEHOLDERS
from steelyard.answers.reader import AnswerReader
from steelyard.errors import TableError
from steelyard.runs.parts import is_parted_run
from steelyard.stores.address import Place
from steelyard.tables.kind_evidence import evidence_in, kind_of_run
from steelyard.tables.placeholder_answers import settle_placeholders
from steelyard.tables.reading import named
from steelyard.tables.responses import open_responses
from steelyard.tables.sources.damage import reading


def reader_for(
    folder: Place, answers: str, layout: str | None, rename: dict[str, str] | None, *, named_kind: bool = True
) -> AnswerReader:
    """A reader that knows the kind of answers of all parts, by their first rows if need be, and the placeholders."""
    reader = AnswerReader(answers, named=named_kind)
    if is_parted_run(folder) and answers != AUTO:
        return reader  # its answers were read out of its responses
    if answers == AUTO:
        with named(str(folder)) as name, reading(name):
            reader.look(lambda: kind_of_run(str(folder)) or evidence_in(open_responses(str(folder), layout, rename)))
    with suppress(TableError), reading(folder):  # a part that cannot be read is reported by its worker
        settle_placeholders(open_responses(str(folder), layout, rename), reader)
    if reader.placeholders is None:
        reader.placeholders = PLACEHOLDERS if reader.drops_placeholders else frozenset()
    return reader
