"""A decision -> the reply: original responses of the best answers, and under `steelyard` how it came about."""

from __future__ import annotations

import time
from typing import Any

from steelyard.gateway.messages.api_errors import public
from steelyard.gateway.messages.chat_request import OURS
from steelyard.gateway.messages.random_ids import random_id
from steelyard.gateway.messages.samples import Sample, ended
from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.spending import NO_PRICES, billed, cost_of, selected, sources_told, usage_told
from steelyard.gateway.vote.vote_settings import SELECTED
from steelyard.sampling.ask.ask import Vote
from steelyard.sampling.llm.prices import Prices

KEPT = ("system_fingerprint", "service_tier")  # of the upstream's own reply


def new_reply() -> dict[str, Any]:
    """The name of a reply, and when it was made."""
    return {"id": f"chatcmpl-{random_id()}", "created": int(time.time())}


def completion(decision: Decision, prices: Prices = NO_PRICES, named: dict[str, Any] | None = None) -> dict[str, Any]:
    """The reply to a request that was voted on; a stream may have been `named` before."""
    best = winners(decision)
    first = best[0].reply or {}
    choices = [_choice(decision, sample, index) for index, sample in enumerate(best)]
    if decision.abstained:
        choices = [_abstention(decision)]
    return {
        **(named or new_reply()),
        "object": "chat.completion",
        "model": decision.asked.model,
        "choices": choices,
        "usage": selected(best) if decision.settings.usage == SELECTED else billed(decision),
        **{name: first[name] for name in KEPT if first.get(name) is not None},
        OURS: told(decision, prices),
    }


def winners(decision: Decision) -> list[Sample]:
    """The best sample of each of the best answers, as many as the client asked for.

    Of the samples with one answer the best is complete rather than cut off, then the one that weighs most, has the
    highest score, and came first by number. Without any readable answer the best sample is chosen among all.
    """
    votes = {(vote.sample, vote.source or ""): vote for vote in decision.outcome.votes}
    good = decision.good
    by_answer: dict[str | None, list[Sample]] = {}
    for sample in good:
        by_answer.setdefault(votes[sample.number, sample.source].answer, []).append(sample)
    first = decision.outcome.answer
    if first is None:
        return [min(good, key=lambda sample: _rank(sample, votes[sample.number, sample.source]))]
    order = [first, *(total.answer for total in decision.outcome.answers if total.answer != first)]
    wanted = [by_answer[answer] for answer in order if answer in by_answer][: decision.asked.choices]
    return [min(each, key=lambda sample: _rank(sample, votes[sample.number, sample.source])) for each in wanted]


def _rank(sample: Sample, vote: Vote) -> tuple[bool, float, float, int, str]:
    cut = sample.choice is None or sample.choice.finish == "length"
    return cut, -(vote.weight or 0.0), -(vote.score or 0.0), sample.number, sample.source


def _choice(decision: Decision, sample: Sample, index: int) -> dict[str, Any]:
    """The choice as it came; log-probabilities that only we asked for are taken out."""
    raw = ended(dict(sample.raw or {}, index=index))
    if not decision.asked.logprobs:
        raw["logprobs"] = None
    return raw


def _abstention(decision: Decision) -> dict[str, Any]:
    confidence = decision.outcome.confidence
    why = (
        f"The vote abstains: the confidence is {'unknown' if confidence is None else f'{confidence:.3f}'}, and a risk "
        f"of {decision.settings.risk:g} needs {decision.threshold:.3f}."
    )
    message = {"role": "assistant", "content": None, "refusal": why}
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}


def told(decision: Decision, prices: Prices = NO_PRICES) -> dict[str, Any]:
    """What stands under `steelyard` in a reply."""
    object_ = {**voted(decision), "usage": usage_told(decision), "cost": cost_of(decision, prices)}
    if decision.parties:
        object_["sources"] = sources_told(decision, prices)
    if decision.cascade:
        object_["cascade"] = decision.cascade.described
    if decision.threshold is not None:
        object_["threshold"] = decision.threshold
    if decision.verifier is not None:
        object_["verifier"] = {"state": "degraded", "reason": public(decision.verifier)}
    if decision.failed:
        object_["failures"] = sorted({public(sample.error.reason) for sample in decision.failed if sample.error})
    if decision.notes:
        object_["notes"] = decision.notes
    if decision.settings.ballots:
        object_["ballots"] = ballots(decision)
    return object_


def voted(decision: Decision) -> dict[str, Any]:
    """How the vote ended, and on which samples."""
    outcome = decision.outcome
    return {
        "answer": None if decision.abstained else outcome.answer,
        "confidence": outcome.confidence,
        "share": outcome.share,
        "margin": outcome.margin,
        "abstained": decision.abstained,
        "policy": decision.policy,
        "method": decision.voted_by,
        "answers": [
            {"answer": one.answer, "votes": one.votes, "weight": one.weight, "probability": one.probability}
            for one in outcome.answers
        ],
        "none_correct": outcome.none_correct,
        "samples": {
            "wanted": decision.drawn,
            "drawn": len(decision.good),
            "uncounted": decision.uncounted,
            "failed": len(decision.failed),
            "cancelled": decision.cancelled,
            "requests": decision.attempts,
            "by": "n" if decision.at_once else "fan-out",
        },
        "stopped": decision.stopped,
    }


def ballots(decision: Decision) -> list[dict[str, Any]]:
    """What became of every sample that the vote went by."""
    return [vote._asdict() for vote in decision.outcome.votes]
