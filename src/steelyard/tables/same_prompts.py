"""Requests with the same prompt are samples of one question."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from steelyard.tables.layout_rows import Row

CONTEXT = ("instructions", "previous_response_id", "conversation")  # context of the input in the Responses API


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
