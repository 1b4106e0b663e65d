"""Requests that ask the same are samples of one question."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from steelyard.tables.layout_rows import Row

CONTEXT = ("instructions", "previous_response_id", "conversation")  # what the Responses API puts before the input


def asked(request: dict[str, Any]) -> str | None:
    """What a request asks, exactly, images and all; None where it asks nothing."""
    found = next((request[name] for name in ("messages", "prompt", "input") if request.get(name)), None)
    beside = {name: request[name] for name in CONTEXT if request.get(name)}
    return None if found is None else json.dumps([found, beside] if beside else found, sort_keys=True)


def join_same_requests(rows: Sequence[Row]) -> str:
    """Name each question after the first request that asks the same (`asked`), and say how many were joined."""
    names: dict[str, str] = {}
    requests: set[str] = set()
    for row in rows:
        key = row.pop("asked", None)
        if key is not None:
            requests.add(row["question"])
            row["question"] = names.setdefault(key, row["question"])
    return f"{len(requests):,} requests with {len(names):,} prompts" if len(names) < len(requests) else ""
