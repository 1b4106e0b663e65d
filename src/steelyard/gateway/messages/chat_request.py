"""A chat request, checked before anything is asked of an upstream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from steelyard.gateway.caps import Caps
from steelyard.gateway.messages.api_errors import ApiError, invalid
from steelyard.gateway.messages.json_members import Members

OURS = "steelyard"  # the one object of ours in a request and in a reply
LONGEST_NAME = 200
MOST_TOKENS = 2**31 - 1
LIMITS = ("max_tokens", "max_completion_tokens", "n_predict")  # the last as llama.cpp calls it
ALIAS = "n_cmpl"  # of n, by llama.cpp
MANY = (ALIAS, "best_of")  # how many an upstream draws where it is not n: the last of servers that keep the best
OUR_FIELDS = frozenset({OURS, "model", "messages", "n", "stream", "stream_options", "seed", *LIMITS, *MANY})


@dataclass(frozen=True)
class ChatRequest:
    """What a client asks for, whoever answers it."""

    members: Members
    model: str
    choices: int  # that come back
    stream: bool
    usage_chunk: bool  # whether the stream ends with the usage
    temperature: float | None
    seed: int | None
    max_tokens: int | None  # per sample
    logprobs: bool

    @property
    def drawn_at_most(self) -> int:
        """The samples that an upstream may draw for it, by any name that servers have for n."""
        return max(self.choices, *(self.members.values.get(name) or 1 for name in MANY))

    @property
    def sent_back(self) -> int:
        """The choices that an upstream sends back, by either name of n."""
        return max(self.choices, self.members.values.get(ALIAS) or 1)

    @cached_property
    def size(self) -> int:
        """The bytes of all its fields, which are at least as many as the tokens of its text."""
        return self.members.size

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.members.values["messages"])

    @cached_property
    def question(self) -> str:
        """The text of the last message of the user, for a verifier."""
        for message in reversed(self.messages):
            if message["role"] == "user":
                content = message.get("content")
                parts = content if isinstance(content, list) else [{"text": content}]
                texts = (part.get("text") for part in parts if isinstance(part, dict))
                return "\n".join(text for text in texts if isinstance(text, str))
        return ""


def read_chat(members: Members, caps: Caps) -> ChatRequest:
    """Check a request by the limits of the operator; what cannot be is an ApiError with the name of the field."""
    values = members.values
    for name in values:
        if name not in OUR_FIELDS and name.casefold() in OUR_FIELDS:  # some servers read both as one, and the last wins
            raise invalid(f"{name:.60}", f"no field {name!r:.60}: it is spelled {name.casefold()!r}")
    model = values.get("model")
    if not isinstance(model, str) or not model or len(model) > LONGEST_NAME:
        raise invalid("model", f"model must be a text of 1 to {LONGEST_NAME} characters: GET /v1/models lists them")
    _check_messages(values.get("messages"), caps)
    stream = _flag(values, "stream")
    options = values.get("stream_options") or {}
    if not isinstance(options, dict) or (options and not stream):
        raise invalid("stream_options", "stream_options is an object, and only for stream: true")
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
        raise invalid("messages", f"there are {len(messages):,} messages: at most {caps.messages:,} are allowed here")
    for i, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise invalid(f"messages[{i}]", f"message {i} must be an object with a role")


def whole_number(values: Mapping[str, Any], name: str, least: int, most: int, *, within: str = "") -> int | None:
    """A field that is a whole number within bounds; None where it is not given."""
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise invalid(within + name, f"{name} must be a whole number")
    if not least <= value <= most:
        raise invalid(within + name, f"{name} must lie between {least:,} and {most:,} here")
    return value


def number(values: Mapping[str, Any], name: str, least: float, most: float, *, within: str = "") -> float | None:
    """A field that is a number within bounds, and so a finite one; None where it is not given."""
    value = values.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise invalid(within + name, f"{name} must be a number")
    if not least <= value <= most:
        raise invalid(within + name, f"{name} must lie between {least:g} and {most:g} here")
    return float(value)


def _flag(values: Mapping[str, Any], name: str) -> bool:
    value = values.get(name)
    if value is not None and not isinstance(value, bool):
        raise invalid(name, f"{name} must be true or false")
    return bool(value)


def unknown_model(model: str, known: list[str]) -> ApiError:
    """The error of a model that is not served here."""
    return ApiError(
        404, f"there is no model {model!r:.100} here: this server has {', '.join(known)}", param="model",
        code="model_not_found",
    )  # fmt: skip
