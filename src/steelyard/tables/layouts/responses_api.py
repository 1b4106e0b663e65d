"""Responses of OpenAI's Responses API, saved as one object, a list or JSON lines, with or without the request."""

from __future__ import annotations

from typing import Any

from steelyard.tables.recognition import Converted, Layout, Opened, Record
from steelyard.tables.saved_replies import read_replies, within_record

FIX = (
    "save the request too ({'request': ..., 'response': ...}), or put the question's id into the metadata of each "
    "request (metadata={'question': ...})"
)


class ResponsesApi(Layout):
    """Each response is a sample; the question is the request if it was saved, or named in the metadata."""

    name = "responses-api"
    title = "Responses API"
    about = (
        "Saved responses of OpenAI's Responses API: output, the request's input or metadata.question as the question"
    )

    def recognises(self, opened: Opened) -> bool:
        return "custom_id" not in opened.first and _body(opened.first) is not None

    def read(self, opened: Opened) -> Converted:
        return read_replies(opened, _body, "response", FIX)


def _body(record: Record) -> Record | None:
    return within_record(record, _is_response)


def _is_response(body: Any) -> bool:
    return isinstance(body, dict) and body.get("object") == "response" and isinstance(body.get("output"), list)
