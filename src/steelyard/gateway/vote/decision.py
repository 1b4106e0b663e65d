"""The decision on a request, and what it cost: tokens and money by part, and by upstream if there are several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from steelyard.gateway.messages.api_errors import public
from steelyard.gateway.messages.chat_request import ChatRequest
from steelyard.gateway.upstream.billing import has_usage, total_usage
from steelyard.gateway.upstream.samples import Sample
from steelyard.gateway.vote.policies import SIMILAR
from steelyard.gateway.vote.sample_request import SampleRequest
from steelyard.gateway.vote.vote_settings import VoteSettings
from steelyard.sampling.ask.ask_cascade import CASCADE, CascadeTurns, Turn
from steelyard.sampling.ask.sample_votes import Outcome
from steelyard.sampling.llm.prices import Price, Prices, price_of
from steelyard.sampling.online.similar_texts import EmbeddedTexts
from steelyard.voting.methods.base.method import Method

NO_PRICES: Prices = {}
EVERYBODY = "all upstreams are asked"


@dataclass(frozen=True)
class SourceSummary:
    """What one of several upstreams was asked for, and what it returned."""

    source: str
    model: str
    requested: int  # samples
    counted: int  # by the vote
    uncounted: int  # samples that the vote did not need
    failed: int
    why: str | None  # the first failure
    replies: list[dict[str, Any]]  # without their choices

    @classmethod
    def of(cls, request: SampleRequest, samples: Sequence[Sample], counted: Sequence[Sample]) -> Self:
        """Summarise one upstream, from all samples received and those that the vote counted."""
        own = sorted((one for one in samples if one.source == request.source.name), key=lambda one: one.number)
        wrong = [one.error.reason for one in own if one.error]
        source = request.source
        count = sum(one.choice is not None for one in counted if one.source == source.name)
        return cls(
            source.name, source.model, request.spec.n, count, len(own) - len(wrong) - count, len(wrong),
            wrong[0] if wrong else None, request.replies,
        )  # fmt: skip


@dataclass
class Decision:
    """The result of the vote on a request, and how it was reached."""

    chat_request: ChatRequest
    settings: VoteSettings
    policy: str
    method: Method
    outcome: Outcome
    samples: list[Sample]  # those that the vote counted, also failed ones, by number
    requested: int  # samples in all
    uncounted: int  # samples that arrived and that the vote did not need
    failed: list[Sample]  # by number
    cancelled: int  # samples still running when the vote ended
    attempts: int
    at_once: bool
    replies: list[dict[str, Any]]
    stopped: str  # why no more were drawn
    verifier: str | None = None  # why its scores were ignored
    threshold: float | None = None  # of the confidence, for the requested risk
    notes: list[str] = field(default_factory=list)
    cascade: CascadeTurns | None = None  # which upstreams the plan's cascade used
    summaries: list[SourceSummary] = field(default_factory=list)  # of the upstreams asked, if there are several
    scoring: list[Mapping[str, Any] | None] = field(default_factory=list)  # tokens of each score of a verifier
    scored_by: str | None = None  # the upstream that also verifies
    vectors: EmbeddedTexts | None = None  # the similarities of free text by embeddings

    @cached_property
    def usage(self) -> dict[str, Any] | None:
        """The tokens billed for samples; None if the upstreams report none."""
        return total_usage(reply.get("usage") for reply in self.replies)

    @property
    def good(self) -> list[Sample]:
        """The samples that the vote counted, without failed ones."""
        return [sample for sample in self.samples if sample.choice]

    @property
    def abstained(self) -> bool:
        """Whether the confidence is below the threshold of the requested risk."""
        if self.threshold is None:
            return False
        return self.outcome.confidence is None or not self.outcome.confidence >= self.threshold

    @property
    def voted_by(self) -> str:
        return CASCADE if self.cascade and self.policy != SIMILAR else self.method.name


def usage_report(decision: Decision) -> dict[str, Any]:
    """Tokens by part, and how many requests have an unknown usage."""
    uncounted = sum(not has_usage(reply.get("usage")) for reply in decision.replies)
    unknown = {
        "replies_without_usage": uncounted,
        "requests_without_reply": decision.attempts - len(decision.replies),
        "cancelled_samples": decision.cancelled,
    }
    if decision.scoring:
        unknown["scores_without_usage"] = decision.scoring.count(None)
    return {"samples": decision.usage, "verifier": total_usage(decision.scoring), "unknown": unknown}


def billed_usage(decision: Decision) -> dict[str, Any] | None:
    """The tokens of samples and scores together, as far as they are known."""
    return total_usage([decision.usage, *decision.scoring]) if decision.scoring else decision.usage


def usage_of_selected(samples: list[Sample]) -> dict[str, Any] | None:
    """The tokens of the returned samples alone; None if the upstream reports them only with others."""
    usages = []
    for sample in samples:
        usage: Any = sample.reply.get("usage") if sample.reply else None
        if not has_usage(usage):
            return None
        if sample.choices > 1:
            tokens, prompt = sample.choice.tokens if sample.choice else None, usage.get("prompt_tokens")
            if tokens is None or type(prompt) is not int:
                return None
            usage = {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens}
        usages.append(usage)
    return total_usage(usages)


def cost_of(decision: Decision, prices: Prices) -> dict[str, Any] | None:
    """The cost by part; None without prices, and a part is None if some of its tokens are unknown."""
    scores = _priced(None if decision.scored_by is None else price_of(prices, decision.scored_by), decision.scoring)
    if not decision.summaries:
        price = price_of(prices, "")
        if price is None and scores is None:
            return None
        return {"samples": _cost_of_replies(price, decision.replies), "verifier": scores}
    turns = _turns(decision)
    costs = [_cost(summary, prices, turns.get(summary.source)) for summary in decision.summaries if summary.replies]
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


def _cost_of_replies(price: Price | None, replies: list[dict[str, Any]]) -> float | None:
    return _priced(price, [reply.get("usage") for reply in replies])


def _priced(price: Price | None, usages: Sequence[Any]) -> float | None:
    """The cost of several usages; None if the price is unknown or one of them does not report its tokens."""
    if price is None or any(price.of(total_usage([usage])) is None for usage in usages):
        return None
    return price.of(total_usage(usages))


def source_reports(decision: Decision, prices: Prices) -> list[dict[str, Any]]:
    """Per upstream: whether it was asked and why, its samples, and their cost."""
    turns, summaries = _turns(decision), {summary.source: summary for summary in decision.summaries}
    return [_source_report(name, summaries.get(name), turns.get(name), prices) for name in turns or summaries]


def _turns(decision: Decision) -> dict[str, Turn]:
    return {turn.source: turn for turn in decision.cascade.turns} if decision.cascade else {}


def _source_report(name: str, summary: SourceSummary | None, turn: Turn | None, prices: Prices) -> dict[str, Any]:
    if summary is None:
        return {"source": name, "sampled": False, "why": public(turn.why) if turn else None}
    received = summary.counted + summary.uncounted
    silent = not received and summary.why
    return {
        "source": name,
        "model": summary.model,
        "sampled": True,
        "why": public(turn.why if turn else f"it gave no sample: {summary.why}" if silent else EVERYBODY),
        "samples": {
            "wanted": summary.requested,
            "drawn": summary.counted,
            "uncounted": summary.uncounted,
            "failed": summary.failed,
            "cancelled": summary.requested - received - summary.failed,
        },
        "usage": total_usage(reply.get("usage") for reply in summary.replies),
        "cost": _cost(summary, prices, turn),
    }


def _cost(summary: SourceSummary, prices: Prices, turn: Turn | None) -> float | None:
    """The cost by the operator's prices; without any, by those of the plan's cascade."""
    price = price_of(prices, summary.source)
    if price is None:
        return turn.cost if turn else None
    return _cost_of_replies(price, summary.replies)
