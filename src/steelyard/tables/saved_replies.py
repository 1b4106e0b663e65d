"""Replies of a server -> rows: saved with or without the requests, or the results of a batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.tables.layout_rows import Row, count_note, failure_note, join_notes, listing, need, table_of
from steelyard.tables.messages import choices_of, prompt_of
from steelyard.tables.names import QUESTION_IDS
from steelyard.tables.recognition import Converted, Opened, Record

REQUEST = ("request", "body", "input")
CARRIED = ("question", "gold", "domain")  # optional fields with standard names
IsReply = Callable[[Any], bool]
CONTEXT = ("instructions", "previous_response_id", "conversation")  # context of the input in the Responses API


def recognises_replies(opened: Opened, is_reply: IsReply) -> bool:
    """Whether the first record is or contains a reply, and is not a line of a batch."""
    return "custom_id" not in opened.first and _reply(opened.first, is_reply) is not None


def read_replies(opened: Opened, is_reply: IsReply, noun: str, fix: str) -> Converted:
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
            rows += _reply_rows(record, position, is_reply, noun)
    unknown = all(row["prompt_key"] is None and row["question"] == row["position"] for row in rows)
    if unknown and len(rows) == replies > 1:
        raise TableError(
            f"no {noun} was saved with its request, so it is unknown which of them answer the same question: {fix}"
        )
    joined = join_same_requests([row for row in rows if row["question"] == row.pop("position")])
    ours = [{name: value for name, value in row.items() if name != "prompt_key"} for row in rows]
    return Converted(table_of(ours), join_notes(count_note(rows), joined, failure_note(rows)))


def _reply(record: Record, is_reply: IsReply) -> Record | None:
    """Return the reply: the record itself, or its field `response` or `completion`."""
    return next((body for body in (record, record.get("response"), record.get("completion")) if is_reply(body)), None)


def _reply_rows(record: Record, position: str, is_reply: IsReply, noun: str) -> list[Row]:
    location = f"{noun} {position}"
    body = _reply(record, is_reply)
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


@dataclass(frozen=True)
class BatchForm:
    """The format in which a vendor writes the requests and the results of a batch."""

    is_output: Callable[[Record], bool]
    is_input: Callable[[Record], bool]
    failure: Callable[[Record], str | None]  # why a result has no response, in a word
    request: Callable[[Record], dict[str, Any]]  # its parameters: messages (or prompt, input), model, n
    replies: Callable[[Record, str], tuple[Any, list[Row]]]  # the model and one row per response


def recognises_batch(opened: Opened, form: BatchForm) -> bool:
    """Whether a file contains results or requests in this format."""
    return any(form.is_output(part.first) or form.is_input(part.first) for part in opened.parts())


def read_batch(opened: Opened, form: BatchForm) -> Converted:
    """Return one row per response; a failed request is a sample without one."""
    inputs: dict[str, Record] = {}
    outputs: dict[str, Record] = {}
    for number, record in enumerate(opened.records(), 1):
        name = str(need(record, "custom_id", (str, int), f"line {number}"))
        if form.is_output(record):
            _add(outputs, name, record, form)
        elif form.is_input(record):
            if inputs.setdefault(name, record) is not record:
                raise TableError(f"custom_id {name!r} appears twice in the input: give each request its own")
        else:
            raise TableError(f"line {number} (custom_id {name!r}) is neither output nor input: remove it")
    if not outputs:
        raise TableError("it contains only the requests of a batch: pass the output file, with or without this one")
    order = list(inputs) if inputs else list(outputs)
    unmatched = [name for name in outputs if name not in inputs] if inputs else []
    if unmatched:
        raise TableError(f"custom_id {unmatched[0]!r} is not in the input file: pass the input of this batch")
    rows = [row for name in order for row in _request_rows(name, outputs.get(name), inputs.get(name), form)]
    joined = join_same_requests(rows)
    no_repeats = not inputs and len(rows) == len(order) > 1
    hint = "pass the input file too, to join requests with the same prompt" if no_repeats else ""
    failures = [reason for name in order if (reason := _failure(outputs.get(name), form))]
    failed = f"{len(failures):,} of {len(order):,} requests failed ({listing(failures)})" if failures else ""
    return Converted(table_of(rows), join_notes(count_note(rows), joined, hint, failed))


def _add(outputs: dict[str, Record], name: str, record: Record, form: BatchForm) -> None:
    """Add a line; a retried request has its later success."""
    earlier = outputs.get(name)
    if earlier is None or form.failure(earlier):
        outputs[name] = record
    elif not form.failure(record):
        raise TableError(f"custom_id {name!r} appears twice with a response: keep one of them")


def _request_rows(name: str, output: Record | None, request: Record | None, form: BatchForm) -> list[Row]:
    body = form.request(request) if request is not None else {}
    prompt = prompt_of(body.get("messages") or body.get("prompt") or body.get("input"))
    common = {"question": name, "prompt": prompt, "llm": body.get("model"), "prompt_key": prompt_key(body)}
    if output is None or _failure(output, form):
        n = body.get("n")
        return [{**common, "response": None} for _ in range(n if isinstance(n, int) and n > 0 else 1)]
    llm, replies = form.replies(output, f"custom_id {name!r}")
    common["llm"] = str(llm) if llm else common["llm"]
    return [{**common, **row} for row in replies]


def _failure(output: Record | None, form: BatchForm) -> str | None:
    return "no line" if output is None else form.failure(output)


def prompt_key(request: dict[str, Any]) -> str | None:
    """Return the exact prompt of a request as JSON, including images and context; None if it has none."""
    prompt = next((request[name] for name in ("messages", "prompt", "input") if request.get(name)), None)
    context = {name: request[name] for name in CONTEXT if request.get(name)}
    return None if prompt is None else json.dumps([prompt, context] if context else prompt, sort_keys=True)


def join_same_requests(rows: Sequence[Row]) -> str:
    """Name each question after the first request with the same `prompt_key`, and return a note on the joined ones."""
    names: dict[str, str] = {}
    requests: set[str] = set()
    for row in rows:
        key = row.pop("prompt_key", None)
        if key is not None:
            requests.add(row["question"])
            row["question"] = names.setdefault(key, row["question"])
    return f"{len(requests):,} requests with {len(names):,} prompts" if len(names) < len(requests) else ""
