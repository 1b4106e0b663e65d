"""A request that was voted on -> the record that is kept of it, for labels to come."""

from __future__ import annotations

import time

from steelyard.gateway.feedback.label_match import kept_name
from steelyard.gateway.vote.decision import Decision
from steelyard.runs.feedback_folder import REQUEST, Record


def request_record(name: str, decision: Decision, owner: str, *, model: str, texts: bool) -> Record:
    """A request as it is kept: answers by their groups, and per sample the answer, the score and who gave it.

    `owner` is the owner id of the key that sent it.
    """
    outcome = decision.outcome
    places = {total.answer: place for place, total in enumerate(outcome.answers)}
    responses = {(sample.number, sample.source): sample.choice for sample in decision.samples}
    record: Record = {
        "kind": REQUEST, "question": name, "at": time.time(), "model": decision.asked.model,
        "method": decision.method.name, "policy": decision.policy,
        "answers": [kept_name(each, decision.policy, texts=texts) for each in places],
        "verdict": None if outcome.answer is None else places[outcome.answer],
        "confidence": _share(outcome.confidence), "share": outcome.share, "abstained": decision.abstained,
    }  # fmt: skip
    if owner:
        record["owner"] = owner
    samples = []
    for vote in outcome.votes:
        choice = responses.get((vote.sample, vote.source or ""))
        sample = {
            "sample": vote.sample, "llm": vote.source or model, "score": _share(vote.score),
            "answer": None if vote.answer is None else places[vote.answer],
            "tokens": choice.tokens if choice else None,
        }  # fmt: skip
        samples.append(sample | ({"response": choice.text} if texts and choice else {}))
    return record | {"samples": samples} | ({"prompt": decision.asked.question} if texts else {})


def _share(value: float | None) -> float | None:
    """A number in [0, 1], None for any other."""
    return value if value is not None and 0 <= value <= 1 else None
