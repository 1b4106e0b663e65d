"""Messages as attributes: bounded, encodable and of the schema, whatever they contain."""

from __future__ import annotations

import json
from typing import Any

import pytest

from steelyard.sampling.telemetry.message_content import LONGEST, MOST_PARTS, input_messages, output_messages

HALF = "half \ud800"


def texts(messages: list[dict[str, Any]]) -> int:
    return sum(len(part.get("content", "")) for message in messages for part in message["parts"])


def test_of_long_messages_the_last_ones_are_kept() -> None:
    messages = [{"role": "user", "content": f"{i} " + "x" * 10_000} for i in range(100)]
    shown = json.loads(input_messages(messages))
    assert [message["parts"][0]["content"][:3] for message in shown][-2:] == ["98 ", "99 "]
    assert 1 < len(shown) < 100
    assert texts(shown) <= 2 * LONGEST


@pytest.mark.parametrize("content", ["y" * 10**7, [{"type": "text", "text": "y" * 1000}] * 10_000])
def test_one_long_message_is_cut(content: Any) -> None:
    (message,) = json.loads(input_messages([{"role": "user", "content": content}]))
    assert texts([message]) <= LONGEST
    assert len(message["parts"]) <= MOST_PARTS
    (answer,) = json.loads(output_messages([({"content": content}, "stop")]))
    assert texts([answer]) <= LONGEST


def test_tools_and_images_are_named_without_their_data() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [image, {"type": "text", "text": "where?"}]},
        {"role": "assistant", "tool_calls": [call]},
    ]
    assert json.loads(input_messages(messages)) == [
        {"role": "user", "parts": [{"type": "image_url"}, {"type": "text", "content": "where?"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "name": "weather", "arguments": '{"city": "Rome"}'}]},
    ]


@pytest.mark.parametrize(
    "message",
    [
        {"role": HALF, "content": HALF},
        {"role": "user"},
        {"role": "user", "content": 7},
        {"role": "user", "content": []},
        {"role": "user", "content": ["text", None, {"text": 7}, {"type": HALF}]},
        {"role": "tool", "tool_calls": [None]},
        {"role": "tool", "tool_calls": [{"function": {"name": HALF, "arguments": None}}]},
    ],
)
def test_any_message_can_be_encoded(message: dict[str, Any]) -> None:
    assert json.loads(input_messages([message]).encode())
    assert json.loads(output_messages([(message, HALF)]).encode())
