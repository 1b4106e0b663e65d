"""What a request that was voted on has cost: tokens and money by part, and by upstream where there are several."""

from __future__ import annotations

from typing import Any

from steelyard.gateway.api_errors import public
from steelyard.gateway.decision import Decision, Party
from steelyard.gateway.samples import Sample
from steelyard.gateway.usage import added, is_counted
from steelyard.jobs.cascade_outcome import Turn
from steelyard.llm.prices import Prices, price_of

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
    """What was billed; None where there are no prices, a part of it None where nobody counted its tokens."""
    scores = _cost_of_scores(decision, prices)
    if not decision.parties:
        price = price_of(prices, "")
        if price is None and scores is None:
            return None
        return {"samples": price.of(decision.usage) if price else None, "verifier": scores}
    turns = _turns(decision)
    costs = [_cost(party, prices, turns.get(party.source)) for party in decision.parties if party.replies]
    if all(cost is None for cost in costs):
        return None
    return {"samples": None if None in costs else sum(cost for cost in costs if cost is not None), "verifier": scores}


def _cost_of_scores(decision: Decision, prices: Prices) -> float | None:
    """What the scores cost, where the prices of who gives them are told and it counts all their tokens."""
    price = None if decision.scored_by is None else price_of(prices, decision.scored_by)
    return None if price is None or None in decision.scoring else price.of(added(decision.scoring))


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
    return price.of(_usage(party.replies))


def _usage(replies: list[dict[str, Any]]) -> dict[str, Any] | None:
    return added(reply.get("usage") for reply in replies)
