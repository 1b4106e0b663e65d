"""The requests, tokens and cost of a command, as one line or one JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from steelyard.cli import show

if TYPE_CHECKING:
    from steelyard.runs.usage import Usage
    from steelyard.sampling.llm.prices import Prices


def add_costs(spent: dict[str, dict[str, dict[str, Any]]], prices: Prices) -> None:
    """Add the cost and its currency to every usage that `status` reports; None where they are unknown."""
    from steelyard.runs.usage import Usage
    from steelyard.sampling.llm.prices import VERIFIER, cost, currency_of, price_of

    for kind, parts in spent.items():
        for name, usage in parts.items():
            price = price_of(prices, VERIFIER if kind == "verifiers" else name)
            usage.update(cost=cost(Usage(**usage), price), currency=currency_of(prices))


def spent_object(spent: Mapping[str, Usage], prices: Prices) -> dict[str, Any] | None:
    """Requests, tokens and cost for --json, also by upstream where these have names; None without any request."""
    from steelyard.runs.usage import total_usage
    from steelyard.sampling.llm.prices import cost, currency_of, price_of, total_cost

    if not any(usage.requests for usage in spent.values()):
        return None
    currency = {"currency": currency_of(prices)}
    named = {
        name: vars(usage) | {"cost": cost(usage, price_of(prices, name))} | currency
        for name, usage in spent.items()
        if name
    }
    total = vars(total_usage(spent)) | {"cost": total_cost(spent, prices)} | currency
    return total | ({"upstreams": named} if named else {})


def probe_object(probe: Mapping[str, Usage] | None, prices: Prices) -> dict[str, Any]:
    """What a probe has spent, as a member of the object for --json; nothing without a probe."""
    return {} if probe is None else {"probe": spent_object(probe, prices)}


def say_spent(spent: Mapping[str, Usage], prices: Prices, on: str = "") -> None:
    """Print what was spent, if anything was."""
    total = spent_object(spent, prices)
    if total:
        show.say(spent_line(total, on))


def spent_line(total: Mapping[str, Any], on: str = "") -> str:
    """What was spent, as one sentence.

    >>> tokens = {"requests": 2, "uncounted": 0, "prompt_tokens": 14, "completion_tokens": 60}
    >>> spent_line(tokens | {"cost": 0.00123, "currency": "EUR"})
    'Spent: 2 requests, 14 input and 60 output tokens, cost 0.00123 EUR.'
    """
    requests = f"{total['requests']:,} request{'s' * (total['requests'] != 1)}"
    tokens = f", {total['prompt_tokens']:,} input and {total['completion_tokens']:,} output tokens"
    if total["uncounted"] == total["requests"]:
        tokens = ", tokens not reported by the server"
    elif total["uncounted"]:
        tokens += f" (not reported for {total['uncounted']:,} requests)"
    money = "" if total["cost"] is None else f", cost {total['cost']:.4g} {total['currency']}"
    return f"Spent{on}: {requests}{tokens}{money}."
