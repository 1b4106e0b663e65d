"""Replies of a server saved as one object, a list or JSON lines, with or without the request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.tables.layout_rows import Row, count_note, failure_note, join_notes, table_of
from steelyard.tables.messages import choices_of, prompt_of
from steelyard.tables.names import QUESTION_IDS
from steelyard.tables.recognition import Converted, Opened, Record
from steelyard.tables.same_prompts import join_same_requests, prompt_key

REQUEST = ("request", "body", "input")
CARRIED = ("question", "gold", "domain")  # optional fields with standard names

Body = Callable[[Record], Record | None]  # extracts the reply from a record


def read_replies(opened: Opened, body_of: Body, noun: str, fix: str) -> Converted:
    """Return one row per response: equal requests are one question; without requests, every reply is one.

    `noun` names a reply in errors, and `fix` says how to save several responses to one question.
    """
    rows: list[Row] = []
    replies = 0
    parts = list(opened.parts())
    for part in parts:
        records = list(part.records())
        replies += len(records)
        stem = part.paths[0].name.partition(".")[0] if part.paths and len(parts) > 1 else ""
        for number, record in enumerate(records):
            position = "/".join(part for part in (stem, str(number) if not stem or len(records) > 1 else "") if part)
            rows += _rows(record, position, body_of, noun)
    unknown = all(row["prompt_key"] is None and row["question"] == row["position"] for row in rows)
    if unknown and len(rows) == replies > 1:
        raise TableError(
            f"no {noun} was saved with its request, so it is unknown which of them answer the same question: {fix}"
        )
    joined = join_same_requests([row for row in rows if row["question"] == row.pop("position")])
    ours = [{name: value for name, value in row.items() if name != "prompt_key"} for row in rows]
    return Converted(table_of(ours), join_notes(count_note(rows), joined, failure_note(rows)))


def within_record(record: Record, is_body: Callable[[Any], bool]) -> Record | None:
    """Return the reply: the record itself, or its field `response` or `completion`."""
    return next((body for body in (record, record.get("response"), record.get("completion")) if is_body(body)), None)


def _rows(record: Record, position: str, body_of: Body, noun: str) -> list[Row]:
    location = f"{noun} {position}"
    body = body_of(record)
    if body is None:
        raise TableError(f"{location} contains no response: remove it, or request it again")
    request: Any = next((record[name] for name in REQUEST if isinstance(record.get(name), dict)), record)
    common = {
        "question": position,
        "position": position,
        "prompt": prompt_of(request.get("messages") or request.get("prompt") or request.get("input")),
        "prompt_key": prompt_key(request),
        "llm": str(body["model"]) if body.get("model") else None,
        **_carried(body.get("metadata")),
        **_carried(record),
    }
    return [{**common, **row} for row in choices_of(body, location)]


def _carried(fields: Any) -> Row:
    """Return the fields of a record (or of its metadata) with standard names, or with an alias of the question's id."""
    values = fields if isinstance(fields, dict) else {}
    plain = {name: str(value) for name, value in values.items() if isinstance(value, str | int | float)}
    ids = [plain[name] for name in plain if name in QUESTION_IDS]
    question = {"question": ids[0]} if len(ids) == 1 else {}
    return question | {name: plain[name] for name in CARRIED if name in plain}
