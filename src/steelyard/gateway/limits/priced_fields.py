"""Checks that a request under a cost limit contains only what is billed at the operator's prices.

Everything else may change the price (service_tier, web_search_options, audio, prediction), or is billed by something
other than text tokens (images, files, tools that the provider runs). It is refused unless the operator allows it
by name. New fields appear every month, so this is a list of those known to be harmless.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from steelyard.gateway.messages.api_errors import ApiError
from steelyard.gateway.messages.chat_request import OUR_FIELDS, ChatRequest

FIELDS = OUR_FIELDS | {
    "temperature", "top_p", "top_k", "min_p", "typical_p", "top_a", "stop", "stop_token_ids", "presence_penalty",
    "frequency_penalty", "repetition_penalty", "repeat_penalty", "length_penalty", "logit_bias", "logprobs",
    "top_logprobs", "prompt_logprobs", "bad_words", "response_format", "structured_outputs", "guided_json",
    "guided_regex", "guided_choice", "guided_grammar", "json_schema", "grammar", "tools", "tool_choice",
    "parallel_tool_calls", "functions", "function_call", "user", "safety_identifier", "metadata", "store",
    "prompt_cache_key", "reasoning_effort", "verbosity", "min_tokens", "ignore_eos", "skip_special_tokens",
    "include_stop_str_in_output", "chat_template_kwargs", "add_generation_prompt", "continue_final_message",
    "include_reasoning", "cache_prompt",
}  # fmt: skip
SAME_PRICE: dict[str, Collection[Any]] = {"service_tier": ("auto", "default"), "modalities": (["text"],)}
MESSAGE = frozenset(
    {
        "role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "reasoning",
        "reasoning_content", "annotations",
    }
)  # fmt: skip
PARTS = frozenset({"text", "refusal"})
PART = frozenset({"type", "text", "refusal"})
TOOLS = frozenset({"function", "custom"})  # run by the client itself
TOOL = frozenset({"type", "function", "custom"})


def check_priced_fields(request: ChatRequest, allowed: Collection[str]) -> None:
    """Refuse a request with anything that the operator's prices may not cover, unless its name is `allowed`."""
    for name, location in _unpriced(request.members.values):
        if name not in allowed:
            raise ApiError(
                400,
                f"{location:.80} may change the price, and this server limits the cost of a request: leave it out, or "
                f"ask the operator to allow it (steelyard serve --allow-field {name:.60})",
                param=f"{location:.80}",
                code="price_not_covered",
            )


def _unpriced(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Everything that the prices may not cover: the name that would allow it, and its location."""
    for name, value in values.items():
        if value is not None and name not in FIELDS and value not in SAME_PRICE.get(name, ()):
            yield name, name
    tools = values.get("tools")
    for i, tool in enumerate(tools if isinstance(tools, list) else ()):
        yield from _unpriced_in_tool(tool, f"tools[{i}]")
    for i, message in enumerate(values["messages"]):
        yield from _unpriced_in_message(message, f"messages[{i}]")


def _unpriced_in_tool(tool: Any, location: str) -> Iterator[tuple[str, str]]:
    if not isinstance(tool, dict):
        return  # the upstream refuses it
    kind = tool.get("type", "function" if "function" in tool else None)
    if kind not in TOOLS:
        yield (kind if isinstance(kind, str) else "tools"), location
    yield from _unpriced_members(tool, TOOL, location)


def _unpriced_in_message(message: dict[str, Any], location: str) -> Iterator[tuple[str, str]]:
    yield from _unpriced_members(message, MESSAGE, location)
    content = message.get("content")
    for i, part in enumerate(content if isinstance(content, list) else ()):
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(kind, str) and kind not in PARTS:
            yield kind, f"{location}.content[{i}]"
            yield from _unpriced_members(part, PART | {kind}, f"{location}.content[{i}]")
        elif isinstance(part, dict):
            yield from _unpriced_members(part, PART, f"{location}.content[{i}]")


def _unpriced_members(item: dict[str, Any], priced: frozenset[str], location: str) -> Iterator[tuple[str, str]]:
    return ((name, f"{location}.{name}") for name, value in item.items() if value is not None and name not in priced)
