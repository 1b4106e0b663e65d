"""Batch results, one line per request in any order, joined with the requests by custom_id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.tables.layout_rows import Row, count_note, join_notes, listing, need, table_of
from steelyard.tables.messages import prompt_of
from steelyard.tables.recognition import Converted, Opened, Record
from steelyard.tables.same_prompts import join_same_requests, prompt_key


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
    rows = [row for name in order for row in _rows(name, outputs.get(name), inputs.get(name), form)]
    joined = join_same_requests(rows)
    no_repeats = not inputs and len(rows) == len(order) > 1
    hint = "pass the input file too, to join requests with the same prompt" if no_repeats else ""
    return Converted(table_of(rows), join_notes(count_note(rows), joined, hint, _failure_summary(order, outputs, form)))


def _add(outputs: dict[str, Record], name: str, record: Record, form: BatchForm) -> None:
    """Add a line; a retried request has its later success."""
    earlier = outputs.get(name)
    if earlier is None or form.failure(earlier):
        outputs[name] = record
    elif not form.failure(record):
        raise TableError(f"custom_id {name!r} appears twice with a response: keep one of them")


def _rows(name: str, output: Record | None, request: Record | None, form: BatchForm) -> list[Row]:
    body = form.request(request) if request is not None else {}
    prompt = prompt_of(body.get("messages") or body.get("prompt") or body.get("input"))
    common = {"question": name, "prompt": prompt, "llm": body.get("model"), "prompt_key": prompt_key(body)}
    if output is None or form.failure(output):
        n = body.get("n")
        return [{**common, "response": None} for _ in range(n if isinstance(n, int) and n > 0 else 1)]
    llm, replies = form.replies(output, f"custom_id {name!r}")
    common["llm"] = str(llm) if llm else common["llm"]
    return [{**common, **row} for row in replies]


def _failure_summary(order: list[str], outputs: dict[str, Record], form: BatchForm) -> str:
    reasons = list(_reasons(order, outputs, form))
    return f"{len(reasons):,} of {len(order):,} requests failed ({listing(reasons)})" if reasons else ""


def _reasons(order: list[str], outputs: dict[str, Record], form: BatchForm) -> Iterator[str]:
    for name in order:
        output = outputs.get(name)
        reason = "no line" if output is None else form.failure(output)
        if reason:
            yield reason
