"""The kind of answers of a folder of parts, settled once for all workers."""

from __future__ import annotations

from steelyard.answers.extract import AUTO
from steelyard.answers.reader import AnswerReader
from steelyard.stores.address import Place
from steelyard.tables.kind_evidence import evidence_in, kind_of_run
from steelyard.tables.reading import named
from steelyard.tables.responses import open_responses
from steelyard.tables.sources.damage import reading


def reader_for(folder: Place, answers: str, layout: str | None, rename: dict[str, str] | None) -> AnswerReader:
    """A reader that knows the kind of answers of all parts; where the kind is to be told by the first rows, it is."""
    reader = AnswerReader(answers)
    if answers == AUTO:
        with named(str(folder)) as name, reading(name):
            reader.look(lambda: kind_of_run(str(folder)) or evidence_in(open_responses(str(folder), layout, rename)))
    return reader
