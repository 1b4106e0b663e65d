"""Results of Anthropic's Message Batches, one line per request in any order, with or without the requests."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import polars as pl

from steelyard.tables.layout_rows import Row, need, within
from steelyard.tables.messages import text_of
from steelyard.tables.recognition import Converted, Layout, Opened, Record
from steelyard.tables.saved_replies import BatchForm, read_batch, recognises_batch

TYPES = ("succeeded", "errored", "canceled", "expired")


class AnthropicBatch(Layout):
    """Each request is a sample; requests with the same prompt are samples of one question."""

    name = "anthropic-batch"
    title = "Anthropic batch results"
    description = "Anthropic Message Batches results, with or without the requests: custom_id, result.message.content"

    def recognises(self, opened: Opened) -> bool:
        return recognises_batch(Unfolded(opened), FORM)

    def read(self, opened: Opened) -> Converted:
        return read_batch(Unfolded(opened), FORM)


class Unfolded(Opened):
    """Files in which `{"requests": [..]}`, the body that creates a batch, is replaced by its requests."""

    def __init__(self, opened: Opened) -> None:
        self.opened, self.paths = opened, opened.paths

    @cached_property
    def first(self) -> Record:
        return next(_requests(self.opened.first), {})

    def records(self) -> Iterator[Record]:
        for record in self.opened.records():
            yield from _requests(record)

    def parts(self) -> Iterator[Opened]:
        yield from (Unfolded(part) for part in self.opened.parts())

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        return self.opened.frame()


def _requests(record: Record) -> Iterator[Record]:
    inner = record.get("requests")
    if set(record) == {"requests"} and isinstance(inner, list):
        yield from (request if isinstance(request, dict) else {} for request in inner)
    else:
        yield record


def _is_output(record: Record) -> bool:
    return "custom_id" in record and within(record, "result", "type") in TYPES


def _is_input(record: Record) -> bool:
    return "custom_id" in record and isinstance(within(record, "params", "messages"), list)


def _failure(record: Record) -> str | None:
    """Return why there is no response, in a word; None if there is one."""
    kind = within(record, "result", "type")
    if kind == "errored":
        return str(
            within(record, "result", "error", "error", "type") or within(record, "result", "error", "type") or kind
        )
    return None if kind == "succeeded" else str(kind)


def _request(record: Record) -> dict[str, Any]:
    """Return the parameters of a request, with its system prompt as the first message."""
    params: dict[str, Any] = record["params"]
    system = text_of(params.get("system"))
    return {**params, "messages": [{"role": "system", "content": system}, *params["messages"]]} if system else params


def _replies(record: Record, location: str) -> tuple[Any, list[Row]]:
    message = need(record["result"], "message", dict, location)
    tokens = within(message, "usage", "output_tokens")
    reason = message.get("stop_reason")
    row = {
        "response": text_of(message.get("content")),
        "finish": reason if isinstance(reason, str) else None,
        "tokens": tokens if isinstance(tokens, int) else None,
    }
    return message.get("model"), [row]


FORM = BatchForm(_is_output, _is_input, _failure, _request, _replies)
