"""Chat completions as a server returned them, saved as one object, a list or JSON lines; the request may be beside."""

from __future__ import annotations

from typing import Any

from steelyard.errors import TableError
from steelyard.tables.layout_rows import Row, counted, failures, said, table_of
from steelyard.tables.messages import choices_of, prompt_of
from steelyard.tables.recognition import Converted, Layout, Opened, Record
from steelyard.tables.same_prompts import asked, join_same_requests

REQUEST = ("request", "body", "input")
CARRIED = ("question", "gold", "domain")  # fields with our names that may stand beside


class ChatCompletions(Layout):
    """Each choice is a sample; the question is the request where it is saved too, else the place in the file."""

    name = "chat-completions"
    title = "chat completions"
    about = "Saved chat completions with n choices: choices, logprobs as the score logprob, the request as the question"

    def recognises(self, opened: Opened) -> bool:
        return "custom_id" not in opened.first and _body(opened.first) is not None

    def read(self, opened: Opened) -> Converted:
        rows: list[Row] = []
        completions = 0
        parts = list(opened.parts())
        for part in parts:
            records = list(part.records())
            completions += len(records)
            stem = part.paths[0].name.partition(".")[0] if part.paths and len(parts) > 1 else ""
            for number, record in enumerate(records):
                place = "/".join(word for word in (stem, str(number) if not stem or len(records) > 1 else "") if word)
                rows += _rows(record, place)
        unknown = all(row["asked"] is None and row["question"] == row["place"] for row in rows)
        if unknown and len(rows) == completions > 1:
            raise TableError(
                "every completion has one choice and no request beside it, so it is unknown which of them answer "
                "the same question: save the request too ({'request': ..., 'response': ...}), or ask with n above 1"
            )
        joined = join_same_requests([row for row in rows if row["question"] == row.pop("place")])
        return Converted(table_of([_ours(row) for row in rows]), said(counted(rows), joined, failures(rows)))


def _body(record: Record) -> Record | None:
    """The completion itself: the record, or what it calls the response."""
    for body in (record, record.get("response"), record.get("completion")):
        choices = body.get("choices") if isinstance(body, dict) else None
        if (
            isinstance(choices, list)
            and choices
            and isinstance(choices[0], dict)
            and {"message", "text"} & choices[0].keys()
        ):
            return body
    return None


def _rows(record: Record, place: str) -> list[Row]:
    where = f"completion {place}"
    body = _body(record)
    if body is None:
        raise TableError(f"{where} has no choices: remove it, or ask again")
    request: Any = next((record[name] for name in REQUEST if isinstance(record.get(name), dict)), record)
    told = {name: str(record[name]) for name in CARRIED if isinstance(record.get(name), str | int | float)}
    common = {
        "question": place,
        "place": place,
        "prompt": prompt_of(request.get("messages") or request.get("prompt")),
        "asked": asked(request),
        "llm": str(body["model"]) if body.get("model") else None,
        **told,
    }
    return [{**common, **row} for row in choices_of(body, where)]


def _ours(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "asked"}
