"""OpenAI's batch output and vLLM's run-batch output, one line per request in any order; the input may stand beside."""

from __future__ import annotations

from typing import Any

from steelyard.errors import TableError
from steelyard.tables.layout_rows import Row, counted, listing, need, said, table_of, within
from steelyard.tables.messages import choices_of, prompt_of
from steelyard.tables.recognition import Converted, Layout, Opened, Record
from steelyard.tables.same_prompts import asked, join_same_requests


class Batch(Layout):
    """Each choice is a sample; a request that failed is a sample without a response."""

    name = "batch"
    title = "batch output"
    about = "OpenAI batch and vLLM run-batch output, with or without the input file: custom_id, response.body.choices"

    def recognises(self, opened: Opened) -> bool:
        return any(_is_output(part.first) or _is_input(part.first) for part in opened.parts())

    def read(self, opened: Opened) -> Converted:
        inputs: dict[str, Record] = {}
        outputs: dict[str, Record] = {}
        for number, record in enumerate(opened.records(), 1):
            name = str(need(record, "custom_id", (str, int), f"line {number}"))
            if _is_output(record):
                _add(outputs, name, record)
            elif _is_input(record):
                if inputs.setdefault(name, record) is not record:
                    raise TableError(f"custom_id {name!r} stands twice in the input: give each request its own")
            else:
                raise TableError(f"line {number} (custom_id {name!r}) is neither output nor input: remove it")
        if not outputs:
            raise TableError("it holds only the requests of a batch: give the output file, with or without this one")
        order = list(inputs) if inputs else list(outputs)
        lost = [name for name in outputs if name not in inputs] if inputs else []
        if lost:
            raise TableError(f"custom_id {lost[0]!r} is not in the input file: give the input of this batch")
        rows = [row for name in order for row in _rows(name, outputs.get(name), inputs.get(name))]
        joined = join_same_requests(rows)
        alone = not inputs and len(rows) == len(order) > 1
        hint = "give the input file beside it to join requests with the same prompt" if alone else ""
        return Converted(table_of(rows), said(counted(rows), joined, hint, _failed(order, outputs)))


def _is_output(record: Record) -> bool:
    """A line of the output or of the error file."""
    return (
        "custom_id" in record and "response" in record and ("error" in record or isinstance(record["response"], dict))
    )


def _is_input(record: Record) -> bool:
    return {"custom_id", "method", "url", "body"} <= record.keys()


def _add(outputs: dict[str, Record], name: str, record: Record) -> None:
    """Take a line; a request that failed and was asked again has the later success."""
    before = outputs.get(name)
    if before is None or _failure(before):
        outputs[name] = record
    elif not _failure(record):
        raise TableError(f"custom_id {name!r} stands twice with a response: keep one of them")


def _failure(record: Record | None) -> str | None:
    """Why there is no response, in a word; None where there is one."""
    if record is None:
        return "no line"
    response = record.get("response")
    status = response.get("status_code", 200) if isinstance(response, dict) else None
    if status is not None and status != 200:
        return f"status {status}"
    if record.get("error") or response is None:
        error = record.get("error")
        return str(error.get("code") or "error") if isinstance(error, dict) else "error"
    return None


def _rows(name: str, output: Record | None, request: Record | None) -> list[Row]:
    body = within(request, "body")
    wanted: dict[str, Any] = body if isinstance(body, dict) else {}
    prompt = prompt_of(wanted.get("messages") or wanted.get("prompt") or wanted.get("input"))
    common = {"question": name, "prompt": prompt, "llm": wanted.get("model"), "asked": asked(wanted)}
    if output is None or _failure(output):
        many = wanted.get("n")
        return [{**common, "response": None} for _ in range(many if isinstance(many, int) and many > 0 else 1)]
    reply = need(output["response"], "body", dict, f"custom_id {name!r}")
    common["llm"] = str(reply["model"]) if reply.get("model") else common["llm"]
    return [{**common, **row} for row in choices_of(reply, f"custom_id {name!r}")]


def _failed(order: list[str], outputs: dict[str, Record]) -> str:
    reasons = [reason for name in order if (reason := _failure(outputs.get(name)))]
    return f"{len(reasons):,} of {len(order):,} requests failed ({listing(reasons)})" if reasons else ""
