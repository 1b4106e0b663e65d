"""A chat request, checked before any upstream is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from steelyard.gateway.caps import Caps
from steelyard.gateway.messages.api_errors import ApiError, invalid
from steelyard.gateway.messages.json_body import Members

OURS = "steelyard"  # our own object in requests and replies
MAX_NAME = 200
MOST_TOKENS = 2**31 - 1
LIMITS = ("max_tokens", "max_completion_tokens", "n_predict")  # the last as llama.cpp calls it
ALIAS = "n_cmpl"  # of n, by llama.cpp
MANY = (ALIAS, "best_of")  # other names of n: best_of is for servers that return the best of several
OUR_FIELDS = frozenset({OURS, "model", "messages", "n", "stream", "stream_options", "seed", *LIMITS, *MANY})


@dataclass(frozen=True)
class ChatRequest:
    """A chat request, for our own model or for an upstream's."""

    members: Members
    model: str
    choices: int  # to return
    stream: bool
    usage_chunk: bool  # whether the stream ends with the usage
    temperature: float | None
    seed: int | None
    max_tokens: int | None  # per sample
    logprobs: bool

    @property
    def max_samples(self) -> int:
        """The largest number of samples that an upstream may draw, by any name of n."""
        return max(self.choices, *(self.members.values.get(name) or 1 for name in MANY))

    @property
    def returned_choices(self) -> int:
        """The number of choices that an upstream returns, by either name of n."""
        return max(self.choices, self.members.values.get(ALIAS) or 1)

    @cached_property
    def size(self) -> int:
        """The bytes of all fields, an upper bound of the tokens of the text."""
        return self.members.size

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.members.values["messages"])

    @cached_property
    def question(self) -> str:
        """The text of the last user message, for a verifier."""
        for message in reversed(self.messages):
            if message["role"] == "user":
                content = message.get("content")
                parts = content if isinstance(content, list) else [{"text": content}]
                texts = (part.get("text") for part in parts if isinstance(part, dict))
                return "\n".join(text for text in texts if isinstance(text, str))
        return ""


def read_chat(members: Members, caps: Caps) -> ChatRequest:
    """Check a request against the operator's limits; an ApiError names the invalid field."""
    values = members.values
    for name in values:
        if name not in OUR_FIELDS and name.casefold() in OUR_FIELDS:  # some servers ignore case, and the last one wins
            raise invalid(f"{name:.60}", f"unknown field {name!r:.60}: did you mean {name.casefold()!r}?")
    model = values.get("model")
    if not isinstance(model, str) or not model or len(model) > MAX_NAME:
        raise invalid("model", f"model must be a string of 1 to {MAX_NAME} characters: GET /v1/models lists them")
    _check_messages(values.get("messages"), caps)
    stream = _flag(values, "stream")
    options = values.get("stream_options") or {}
    if not isinstance(options, dict) or (options and not stream):
        raise invalid("stream_options", "stream_options must be an object, and needs stream: true")
    limits = [whole_number(values, name, 1, caps.tokens or MOST_TOKENS) for name in LIMITS]
    for name in MANY:
        whole_number(values, name, 1, caps.choices)
    return ChatRequest(
        members=members,
        model=model,
        choices=whole_number(values, "n", 1, caps.choices) or 1,
        stream=stream,
        usage_chunk=_flag(options, "include_usage"),
        temperature=number(values, "temperature", 0.0, 100.0),
        seed=whole_number(values, "seed", -(2**63), 2**63 - 1 - caps.samples),
        max_tokens=max((limit for limit in limits if limit is not None), default=None),
        logprobs=_flag(values, "logprobs"),
    )


def _check_messages(messages: Any, caps: Caps) -> None:
    if not isinstance(messages, list) or not messages:
        raise invalid("messages", "messages must be a list of at least one message")
    if len(messages) > caps.messages:
        raise invalid("messages", f"there are {len(messages):,} messages: at most {caps.messages:,} are allowed")
    for i, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise invalid(f"messages[{i}]", f"message {i} must be an object with a role")


def whole_number(values: Mapping[str, Any], name: str, minimum: int, maximum: int, *, within: str = "") -> int | None:
    """An integer field within bounds; None if it is missing."""
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise invalid(within + name, f"{name} must be an integer")
    if not minimum <= value <= maximum:
        raise invalid(within + name, f"{name} must lie between {minimum:,} and {maximum:,}")
    return value


def number(values: Mapping[str, Any], name: str, minimum: float, maximum: float, *, within: str = "") -> float | None:
    """A finite number field within bounds; None if it is missing."""
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise invalid(within + name, f"{name} must be a number")
    if not minimum <= value <= maximum:
        raise invalid(within + name, f"{name} must lie between {minimum:g} and {maximum:g}")
    return float(value)


def _flag(values: Mapping[str, Any], name: str) -> bool:
    value = values.get(name)
    if value is not None and not isinstance(value, bool):
        raise invalid(name, f"{name} must be true or false")
    return bool(value)


def unknown_model(model: str, models: list[str]) -> ApiError:
    return ApiError(
        404, f"no model {model!r:.100}: this server has {', '.join(models)}", param="model",
        code="model_not_found",
    )  # fmt: skip
