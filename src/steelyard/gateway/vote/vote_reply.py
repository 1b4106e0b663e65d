"""The reply to a request that was voted on: original responses of the best answers, and details under `steelyard`."""

from __future__ import annotations

import time
from typing import Any, TypeVar

from steelyard.gateway.messages.api_errors import public
from steelyard.gateway.messages.chat_request import OURS
from steelyard.gateway.messages.replies import random_id
from steelyard.gateway.upstream.samples import Sample, with_finish_reason
from steelyard.gateway.vote.decision import (
    NO_PRICES,
    Decision,
    billed_usage,
    cost_of,
    source_reports,
    usage_of_selected,
    usage_report,
)
from steelyard.gateway.vote.policies import LONGEST, SIMILAR
from steelyard.gateway.vote.vote_settings import SELECTED
from steelyard.sampling.ask.sample_votes import Vote
from steelyard.sampling.llm.prices import Prices

Answer = TypeVar("Answer", str, str | None)
COPIED = ("system_fingerprint", "service_tier")  # of the upstream's own reply


def new_header() -> dict[str, Any]:
    """The id and the time of a new reply."""
    return {"id": f"chatcmpl-{random_id()}", "created": int(time.time())}


def completion(decision: Decision, prices: Prices = NO_PRICES, header: dict[str, Any] | None = None) -> dict[str, Any]:
    """The chat completion; a stream has sent its `header` before."""
    best = winners(decision)
    first = best[0].reply or {}
    choices = [_choice(decision, sample, index) for index, sample in enumerate(best)]
    if decision.abstained:
        choices = [_abstention(decision)]
    return {
        **(header or new_header()),
        "object": "chat.completion",
        "model": decision.chat_request.model,
        "choices": choices,
        "usage": usage_of_selected(best) if decision.settings.usage == SELECTED else billed_usage(decision),
        **{name: first[name] for name in COPIED if first.get(name) is not None},
        OURS: vote_details(decision, prices),
    }


def winners(decision: Decision) -> list[Sample]:
    """The best sample of each of the best answers, as many as the client requested.

    Samples with the same answer are ranked by: complete before cut off, weight, score, number. Without any readable
    answer the best sample is chosen among all. Of free text they are the leaders of the groups of similar responses.
    """
    votes = {(vote.sample, vote.source or ""): vote for vote in decision.outcome.votes}
    good = decision.good
    by_answer: dict[str | None, list[Sample]] = {}
    for sample in good:
        by_answer.setdefault(votes[sample.number, sample.source].answer, []).append(sample)
    first = decision.outcome.answer
    if decision.outcome.leaders:
        leaders = [decision.outcome.votes[row] for row in decision.outcome.leaders[: decision.chat_request.choices]]
        by_number = {(sample.number, sample.source): sample for sample in good}
        return [by_number[vote.sample, vote.source or ""] for vote in leaders]
    if first is None:
        return [min(good, key=lambda sample: _rank(sample, votes[sample.number, sample.source]))]
    order = [first, *(total.answer for total in decision.outcome.answers if total.answer != first)]
    groups = [by_answer[answer] for answer in order if answer in by_answer][: decision.chat_request.choices]
    return [min(group, key=lambda sample: _rank(sample, votes[sample.number, sample.source])) for group in groups]


def _rank(sample: Sample, vote: Vote) -> tuple[bool, float, float, int, str]:
    cut = sample.choice is None or sample.choice.finish == "length"
    return cut, -(vote.weight or 0.0), -(vote.score or 0.0), sample.number, sample.source


def _choice(decision: Decision, sample: Sample, index: int) -> dict[str, Any]:
    """The original choice, without log-probabilities that only we requested."""
    raw = with_finish_reason(dict(sample.raw or {}, index=index))
    if not decision.chat_request.logprobs:
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


def vote_details(decision: Decision, prices: Prices = NO_PRICES) -> dict[str, Any]:
    """The object `steelyard` of a reply."""
    details = {**vote_summary(decision), "usage": usage_report(decision), "cost": cost_of(decision, prices)}
    if decision.summaries:
        details["sources"] = source_reports(decision, prices)
    if decision.cascade:
        details["cascade"] = decision.cascade.described
    if decision.threshold is not None:
        details["threshold"] = decision.threshold
    if decision.verifier is not None:
        details["verifier"] = {"state": "degraded", "reason": public(decision.verifier)}
    if decision.failed:
        details["failures"] = sorted({public(sample.error.reason) for sample in decision.failed if sample.error})
    if decision.notes:
        details["notes"] = decision.notes
    if decision.settings.ballots:
        details["ballots"] = ballots(decision)
    return details


def vote_summary(decision: Decision) -> dict[str, Any]:
    """The result of the vote, and its samples."""
    outcome = decision.outcome
    return {
        "answer": None if decision.abstained else _shown(decision, outcome.answer),
        "confidence": outcome.confidence,
        "share": outcome.share,
        "margin": outcome.margin,
        "abstained": decision.abstained,
        "policy": decision.policy,
        "method": decision.voted_by,
        "answers": [one._replace(answer=_shown(decision, one.answer))._asdict() for one in outcome.answers],
        "none_correct": outcome.none_correct,
        "samples": {
            "wanted": decision.requested,
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
    """The vote of every counted sample."""
    return [vote._replace(answer=_shown(decision, vote.answer))._asdict() for vote in decision.outcome.votes]


def _shown(decision: Decision, answer: Answer) -> Answer:
    """An answer as the details of a reply show it: the beginning of a response."""
    if answer is None or decision.policy != SIMILAR or len(answer) <= LONGEST:
        return answer
    return f"{answer[: LONGEST - 1]}…"
