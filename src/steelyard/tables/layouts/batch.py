"""OpenAI's batch output and vLLM's run-batch output, one line per request in any order, with or without the input."""

from __future__ import annotations

from typing import Any

from steelyard.tables.layout_rows import Row, need, within
from steelyard.tables.messages import choices_of
from steelyard.tables.recognition import Converted, Layout, Opened, Record
from steelyard.tables.saved_replies import BatchForm, read_batch, recognises_batch


class Batch(Layout):
    """Each choice is a sample; a failed request is a sample without a response."""

    name = "batch"
    title = "batch output"
    description = (
        "OpenAI batch and vLLM run-batch output, with or without the input file: custom_id, response.body.choices"
    )

    def recognises(self, opened: Opened) -> bool:
        return recognises_batch(opened, FORM)

    def read(self, opened: Opened) -> Converted:
        return read_batch(opened, FORM)


def _is_output(record: Record) -> bool:
    """Whether this is a line of the output or the error file."""
    return (
        "custom_id" in record and "response" in record and ("error" in record or isinstance(record["response"], dict))
    )


def _is_input(record: Record) -> bool:
    return {"custom_id", "method", "url", "body"} <= record.keys()


def _failure(record: Record) -> str | None:
    """Return why there is no response, in a word; None if there is one."""
    response = record.get("response")
    status = response.get("status_code", 200) if isinstance(response, dict) else None
    if status is not None and status != 200:
        return f"status {status}"
    if record.get("error") or response is None:
        error = record.get("error")
        return str(error.get("code") or "error") if isinstance(error, dict) else "error"
    return None


def _request(record: Record) -> dict[str, Any]:
    body = within(record, "body")
    return body if isinstance(body, dict) else {}


def _replies(record: Record, location: str) -> tuple[Any, list[Row]]:
    reply = need(record["response"], "body", dict, location)
    return reply.get("model"), choices_of(reply, location)


FORM = BatchForm(_is_output, _is_input, _failure, _request, _replies)
