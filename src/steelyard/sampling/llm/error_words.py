"""What a server says that went wrong, in whatever shape servers and the proxies before them put it."""

from __future__ import annotations

import html
import json
from typing import Any

from steelyard.foundation.surrogates import replace_surrogates

MOST_REASON = 2000  # characters of what a server says went wrong, before it is masked and cut


def error_message(body: bytes | bytearray) -> str:
    """What an error reply says; of a page for people, which proxies send, its title.

    >>> error_message(b'{"error": {"message": "no such model"}}')
    'no such model'
    >>> error_message(b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>")
    '502 Bad Gateway'
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "replace")
        content = _title(text) or text
    if isinstance(content, dict):
        content = error_of(content) or ""
    return replace_surrogates(content[:MOST_REASON]) if isinstance(content, str) else ""


def error_of(content: dict[str, Any]) -> str | None:
    """What an object says that went wrong; None where it says nothing.

    >>> error_of({"error": True, "message": "no such model"}), error_of({"error": None, "detail": "not found"})
    ('no such model', 'not found')
    """
    said = (content.get(name) for name in ("error", "detail", "message"))
    error = next((each for each in said if each and each is not True), None)
    if isinstance(error, dict):
        error = error.get("message")
    if isinstance(error, list):  # FastAPI: a list of what is wrong
        error = "; ".join(str(part.get("msg", part)) if isinstance(part, dict) else str(part) for part in error[:3])
    return f"{error}"[:MOST_REASON] if error else None


def _title(text: str) -> str:
    """The title of an HTML page; empty where it has none, or is none."""
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        return ""
    _, _, behind = text.replace("<TITLE", "<title").partition("<title")
    return html.unescape(behind.partition(">")[2].partition("<")[0][:MOST_REASON]).strip()
