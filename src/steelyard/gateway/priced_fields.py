"""What a request may contain under a cap on its cost: fields whose tokens are billed at the operator's prices.

Everything else may change the price (service_tier, web_search_options, audio, prediction), or is billed by something
other than the tokens of text (images, files, tools that the provider runs). It is refused unless the operator allows it
by name. New fields appear every month, so the list is of those that are known to be harmless.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from steelyard.gateway.api_errors import ApiError
from steelyard.gateway.chat_request import OUR_FIELDS, ChatRequest

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
TOOLS = frozenset({"function", "custom"})  # that the client runs itself
TOOL = frozenset({"type", "function", "custom"})


def check_priced_fields(asked: ChatRequest, allowed: Collection[str]) -> None:
    """Refuse a request with anything that the operator's prices may not cover, unless its name is `allowed`."""
    for name, where in _others(asked.members.values):
        if name not in allowed:
            raise ApiError(
                400,
                f"{where:.80} may change the price, and the cost of a request is limited here: leave it out, or have "
                f"the operator allow it (steelyard serve --allow-field {name:.60})",
                param=f"{where:.80}",
                code="price_not_covered",
            )


def _others(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What the prices may not cover: the name under which it can be allowed, and where it is."""
    for name, value in values.items():
        if value is not None and name not in FIELDS and value not in SAME_PRICE.get(name, ()):
            yield name, name
    tools = values.get("tools")
    for i, tool in enumerate(tools if isinstance(tools, list) else ()):
        yield from _of_tool(tool, f"tools[{i}]")
    for i, message in enumerate(values["messages"]):
        yield from _of_message(message, f"messages[{i}]")


def _of_tool(tool: Any, where: str) -> Iterator[tuple[str, str]]:
    if not isinstance(tool, dict):
        return  # the upstream refuses it
    kind = tool.get("type", "function" if "function" in tool else None)
    if kind not in TOOLS:
        yield (kind if isinstance(kind, str) else "tools"), where
    yield from _members(tool, TOOL, where)


def _of_message(message: dict[str, Any], where: str) -> Iterator[tuple[str, str]]:
    yield from _members(message, MESSAGE, where)
    content = message.get("content")
    for i, part in enumerate(content if isinstance(content, list) else ()):
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(kind, str) and kind not in PARTS:
            yield kind, f"{where}.content[{i}]"
            yield from _members(part, PART | {kind}, f"{where}.content[{i}]")
        elif isinstance(part, dict):
            yield from _members(part, PART, f"{where}.content[{i}]")


def _members(item: dict[str, Any], known: frozenset[str], where: str) -> Iterator[tuple[str, str]]:
    return ((name, f"{where}.{name}") for name, value in item.items() if value is not None and name not in known)
