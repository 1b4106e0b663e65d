"""What a request that was voted on has cost: tokens and money by part, and by upstream where there are several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from steelyard.gateway.messages.api_errors import public
from steelyard.gateway.messages.samples import Sample
from steelyard.gateway.messages.usage import added, is_counted
from steelyard.gateway.vote.decision import Decision, Party
from steelyard.sampling.ask.cascade_outcome import Turn
from steelyard.sampling.llm.prices import Price, Prices, price_of

NO_PRICES: Prices = {}
EVERYBODY = "all upstreams are asked"


def usage_told(decision: Decision) -> dict[str, Any]:
    """Tokens by part; of tries that gave nothing, and of what the upstream did not count, nobody knows."""
    uncounted = sum(not is_counted(reply.get("usage")) for reply in decision.replies)
    unknown = {
        "replies_without_usage": uncounted,
        "requests_without_reply": decision.attempts - len(decision.replies),
        "cancelled_samples": decision.cancelled,
    }
    if decision.scoring:
        unknown["scores_without_usage"] = decision.scoring.count(None)
    return {"samples": decision.usage, "verifier": added(decision.scoring), "unknown": unknown}


def billed(decision: Decision) -> dict[str, Any] | None:
    """All tokens that were counted, of samples and scores together."""
    return added([decision.usage, *decision.scoring]) if decision.scoring else decision.usage


def selected(samples: list[Sample]) -> dict[str, Any] | None:
    """The tokens of the samples that go back alone; None where the upstream has only counted them with others."""
    found = []
    for sample in samples:
        usage: Any = sample.reply.get("usage") if sample.reply else None
        if not is_counted(usage):
            return None
        if sample.choices > 1:
            tokens, prompt = sample.choice.tokens if sample.choice else None, usage.get("prompt_tokens")
            if tokens is None or type(prompt) is not int:
                return None
            usage = {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens}
        found.append(usage)
    return added(found)


def cost_of(decision: Decision, prices: Prices) -> dict[str, Any] | None:
    """What was billed; None where there are no prices, a part of it None where not all of its tokens were counted."""
    scores = _cost_of_scores(decision, prices)
    if not decision.parties:
        price = price_of(prices, "")
        if price is None and scores is None:
            return None
        return {"samples": _cost_of_replies(price, decision.replies), "verifier": scores}
    turns = _turns(decision)
    costs = [_cost(party, prices, turns.get(party.source)) for party in decision.parties if party.replies]
    if all(cost is None for cost in costs):
        return None
    return {"samples": None if None in costs else sum(cost for cost in costs if cost is not None), "verifier": scores}


def total_cost(decision: Decision, prices: Prices) -> float | None:
    """The cost of samples and scores together; None if a part of it is unknown."""
    cost = cost_of(decision, prices)
    if cost is None or cost["samples"] is None:
        return None
    total: float = cost["samples"]
    if not decision.scoring:
        return total
    return None if cost["verifier"] is None else total + cost["verifier"]


def _cost_of_scores(decision: Decision, prices: Prices) -> float | None:
    """What the scores cost, where the prices of who gives them are told and it counts all their tokens."""
    price = None if decision.scored_by is None else price_of(prices, decision.scored_by)
    return _priced(price, decision.scoring)


def _cost_of_replies(price: Price | None, replies: list[dict[str, Any]]) -> float | None:
    return _priced(price, [reply.get("usage") for reply in replies])


def _priced(price: Price | None, usages: Sequence[Any]) -> float | None:
    """The cost of several usages; None if the price is unknown or one of them does not report its tokens."""
    if price is None or any(price.of(added([usage])) is None for usage in usages):
        return None
    return price.of(added(usages))


def sources_told(decision: Decision, prices: Prices) -> list[dict[str, Any]]:
    """Of every upstream whether it was asked and why, how many samples came of it, and what that cost."""
    turns, asked = _turns(decision), {party.source: party for party in decision.parties}
    return [_told(name, asked.get(name), turns.get(name), prices) for name in turns or asked]


def _turns(decision: Decision) -> dict[str, Turn]:
    return {turn.source: turn for turn in decision.cascade.turns} if decision.cascade else {}


def _told(name: str, party: Party | None, turn: Turn | None, prices: Prices) -> dict[str, Any]:
    if party is None:
        return {"source": name, "asked": False, "why": public(turn.why) if turn else None}
    came = party.drawn + party.uncounted
    silent = not came and party.why
    return {
        "source": name,
        "model": party.model,
        "asked": True,
        "why": public(turn.why if turn else f"it gave no sample: {party.why}" if silent else EVERYBODY),
        "samples": {
            "wanted": party.wanted,
            "drawn": party.drawn,
            "uncounted": party.uncounted,
            "failed": party.failed,
            "cancelled": party.wanted - came - party.failed,
        },
        "usage": _usage(party.replies),
        "cost": _cost(party, prices, turn),
    }


def _cost(party: Party, prices: Prices, turn: Turn | None) -> float | None:
    """By the operator's prices; without any, by those of the plan's cascade."""
    price = price_of(prices, party.source)
    if price is None:
        return turn.cost if turn else None
    return _cost_of_replies(price, party.replies)


def _usage(replies: list[dict[str, Any]]) -> dict[str, Any] | None:
    return added(reply.get("usage") for reply in replies)
