"""What a server returned, saved as one object, a list or JSON lines, with or without the request beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.tables.layout_rows import Row, counted, failures, said, table_of
from steelyard.tables.messages import choices_of, prompt_of
from steelyard.tables.names import QUESTION_IDS
from steelyard.tables.recognition import Converted, Opened, Record
from steelyard.tables.same_prompts import asked, join_same_requests

REQUEST = ("request", "body", "input")
CARRIED = ("question", "gold", "domain")  # fields with our names that may stand beside

Body = Callable[[Record], Record | None]  # the reply itself, within a record


def read_replies(opened: Opened, body_of: Body, what: str, fix: str) -> Converted:
    """Return one row per response: equal requests are one question, and without requests every reply is one.

    `what` names a reply in errors, and `fix` says how several responses to one question are saved.
    """
    rows: list[Row] = []
    replies = 0
    parts = list(opened.parts())
    for part in parts:
        records = list(part.records())
        replies += len(records)
        stem = part.paths[0].name.partition(".")[0] if part.paths and len(parts) > 1 else ""
        for number, record in enumerate(records):
            place = "/".join(word for word in (stem, str(number) if not stem or len(records) > 1 else "") if word)
            rows += _rows(record, place, body_of, what)
    unknown = all(row["asked"] is None and row["question"] == row["place"] for row in rows)
    if unknown and len(rows) == replies > 1:
        raise TableError(
            f"no {what} has its request beside it, so it is unknown which of them answer the same question: {fix}"
        )
    joined = join_same_requests([row for row in rows if row["question"] == row.pop("place")])
    ours = [{name: value for name, value in row.items() if name != "asked"} for row in rows]
    return Converted(table_of(ours), said(counted(rows), joined, failures(rows)))


def within_record(record: Record, is_body: Callable[[Any], bool]) -> Record | None:
    """The reply: the record itself, or what it calls the response."""
    return next((each for each in (record, record.get("response"), record.get("completion")) if is_body(each)), None)


def _rows(record: Record, place: str, body_of: Body, what: str) -> list[Row]:
    where = f"{what} {place}"
    body = body_of(record)
    if body is None:
        raise TableError(f"{where} has no response in it: remove it, or ask again")
    request: Any = next((record[name] for name in REQUEST if isinstance(record.get(name), dict)), record)
    common = {
        "question": place,
        "place": place,
        "prompt": prompt_of(request.get("messages") or request.get("prompt") or request.get("input")),
        "asked": asked(request),
        "llm": str(body["model"]) if body.get("model") else None,
        **_carried(body.get("metadata")),
        **_carried(record),
    }
    return [{**common, **row} for row in choices_of(body, where)]


def _carried(fields: Any) -> Row:
    """What a record, or the metadata of its request, calls by our names, or by another name of the question's id."""
    values = fields if isinstance(fields, dict) else {}
    named = {name: str(value) for name, value in values.items() if isinstance(value, str | int | float)}
    ids = [named[name] for name in named if name in QUESTION_IDS]
    question = {"question": ids[0]} if len(ids) == 1 else {}
    return question | {name: named[name] for name in CARRIED if name in named}
