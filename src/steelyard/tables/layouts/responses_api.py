"""Responses of OpenAI's Responses API, saved as one object, a list or JSON lines, with or without the request."""

from __future__ import annotations

from typing import Any

from steelyard.tables.recognition import Converted, Layout, Opened
from steelyard.tables.saved_replies import read_replies, recognises_replies

FIX = (
    "save the request too ({'request': ..., 'response': ...}), or put the question's id into the metadata of each "
    "request (metadata={'question': ...})"
)


class ResponsesApi(Layout):
    """Each response is a sample; the question is the request if it was saved, or named in the metadata."""

    name = "responses-api"
    title = "Responses API"
    description = (
        "Saved responses of OpenAI's Responses API: output, the request's input or metadata.question as the question"
    )

    def recognises(self, opened: Opened) -> bool:
        return recognises_replies(opened, _is_response)

    def read(self, opened: Opened) -> Converted:
        return read_replies(opened, _is_response, "response", FIX)


def _is_response(body: Any) -> bool:
    return isinstance(body, dict) and body.get("object") == "response" and isinstance(body.get("output"), list)
