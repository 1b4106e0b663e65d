"""What a request may cost at worst, checked against the limits before any upstream is asked.

One try of each sample and all tries of each score are counted in advance; the `Allowance` is what the limits leave for
retries. A failed try may have been billed if its reply was lost or unreadable, but not if the upstream was busy,
unreachable, or answered with an error. A sample shorter than its limit gives the difference back.

Under a cost limit a request may contain only what is billed at the operator's prices. Everything else may change the
price (service_tier, web_search_options, audio, prediction), or is billed by something other than text tokens (images,
files, tools that the provider runs), and is refused unless the operator allows it by name. New fields appear every
month, so FIELDS lists those known to be harmless.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from steelyard.gateway.caps import Caps
from steelyard.gateway.messages.api_errors import ApiError
from steelyard.gateway.messages.chat_request import OUR_FIELDS, ChatRequest
from steelyard.sampling.llm.prices import MILLION, Price, Prices, price_of

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


class ScoreUsage(NamedTuple):
    """The tokens of one score at worst, all tries together, as the verifier's server bills them."""

    fixed: int  # tokens read besides the response
    per_token: int  # tokens read per token of the response
    written: int  # tokens
    price: Price | None


NO_USAGE = ScoreUsage(0, 0, 0, None)
FREE = Price(0.0, 0.0)


class Budget(NamedTuple):
    """The token limit of each sample, if there is one, and what the limits leave beyond the worst case."""

    max_tokens: int | None = None  # per sample
    allowance: Allowance | None = None


def budget(
    chat_request: ChatRequest,
    samples: Mapping[str, int],
    caps: Caps,
    prices: Prices,
    max_total_tokens: int | None = None,
    score_usage: ScoreUsage = NO_USAGE,
) -> Budget:
    """The budget of each sample; a request that could exceed the limits is refused.

    `samples` is the number of samples per upstream, and `max_total_tokens` the client's limit for all of them and their
    scores. A token of the prompt has at least one byte.
    """
    n = sum(samples.values())
    tokens = min((limit for limit in (max_total_tokens, caps.tokens) if limit is not None), default=math.inf)
    cost = math.inf if caps.cost is None else caps.cost * MILLION
    if tokens == cost == math.inf:
        return Budget()
    size = chat_request.size
    priced = {name: price_of(prices, name) or FREE for name in samples}
    score = score_usage.price or FREE
    beside = Bill(
        n * (score_usage.fixed + score_usage.written),
        sum(count * size * priced[name].prompt for name, count in samples.items())
        + n * (score_usage.fixed * score.prompt + score_usage.written * score.completion),
    )
    per_token = Bill(
        n * (1 + score_usage.per_token),
        sum(count * priced[name].completion for name, count in samples.items())
        + n * score_usage.per_token * score.prompt,
    )
    per_sample = min(_share(tokens - beside.tokens, per_token.tokens), _share(cost - beside.cost, per_token.cost))
    if per_sample == math.inf:
        return Budget()
    if per_sample < 1 or (chat_request.max_tokens or 0) > per_sample:
        size_text = f"up to {chat_request.max_tokens:,}" if chat_request.max_tokens else "at least one"
        scores = " and their scores" if score_usage != NO_USAGE else ""
        raise ApiError(
            400, f"{n} samples of {size_text} tokens{scores} could exceed the limit of {max(0, per_sample):,} each: "
            "request fewer samples (steelyard.n), or shorter ones (max_tokens)", param="max_tokens", code="over_budget",
        )  # fmt: skip
    max_tokens = chat_request.max_tokens or per_sample
    left = Bill(
        tokens - beside.tokens - per_token.tokens * max_tokens,
        (cost - beside.cost - per_token.cost * max_tokens) / MILLION,
    )
    worst = {
        name: Bill(max_tokens, (size * price.prompt + max_tokens * price.completion) / MILLION)
        for name, price in priced.items()
    }
    saved = {name: price.completion / MILLION for name, price in priced.items()}
    return Budget(int(per_sample), Allowance(left, worst, saved))


def _share(left: float, price: float) -> float:
    """How many times a price can be paid; a price of 0 without limit, unless nothing is left."""
    if price > 0 and left < math.inf:
        return math.floor(left / price)
    return math.inf if left >= 0 else 0


class Bill(NamedTuple):
    """Tokens and their cost; infinite if there is no limit."""

    tokens: float
    cost: float


class Allowance:
    """What one request may still use; `sample` is the worst case per upstream, `price` the price of a token."""

    def __init__(self, left: Bill, sample: Mapping[str, Bill], price: Mapping[str, float]) -> None:
        self.left, self.sample, self.price = left, sample, price

    def reserve(self, source: str, count: int = 1) -> bool:
        """Reserve the worst case of `count` samples of an upstream; False if too little is left.

        >>> rest = Allowance(Bill(150, float("inf")), {"a": Bill(100, 0.0)}, {"a": 0.0})
        >>> rest.reserve("a"), rest.reserve("a")
        (True, False)
        """
        per_sample = self.sample[source]
        rest = Bill(self.left.tokens - count * per_sample.tokens, self.left.cost - count * per_sample.cost)
        if min(rest) < 0:
            return False
        self.left = rest
        return True

    def release(self, source: str, count: int = 1) -> None:
        """Give back what was reserved for samples that are not billed."""
        per_sample = self.sample[source]
        self.left = Bill(self.left.tokens + count * per_sample.tokens, self.left.cost + count * per_sample.cost)

    def record_usage(self, source: str, count: int, usage: Any) -> None:
        """Replace the worst case of `count` samples with their usage, if the upstream reports it.

        The saved cost is that of the saved tokens; the prompt stays at its worst case.
        """
        tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
        if type(tokens) is int:
            per_sample = self.sample[source]
            saved = max(0.0, count * per_sample.tokens - tokens)
            self.left = Bill(self.left.tokens + saved, self.left.cost + saved * self.price[source])


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
