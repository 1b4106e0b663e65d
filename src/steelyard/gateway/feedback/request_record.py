"""The stored record of a request, and which of its answers a label marks as correct.

Unless the operator allows it, no response text is stored. A long answer, or one that is the complete response (JSON,
tool calls), counts as one: its digest is stored instead, which is enough to recognise it.
"""

from __future__ import annotations

import hashlib
import json
import time
from typing import Any

import numpy as np
import polars as pl

from steelyard.answers.kinds.json import json_form
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.policies import AnswerPolicy
from steelyard.runs.feedback_journal import REQUEST
from steelyard.runs.journal_lines import Record

LONGEST = 100  # characters of an answer that is not a complete response
DIGEST = "sha256:"


def request_record(name: str, decision: Decision, owner: str, *, model: str, texts: bool) -> Record:
    """The record of a request: its distinct answers, and per sample the answer, the score and the LLM."""
    outcome = decision.outcome
    indexes = {total.answer: index for index, total in enumerate(outcome.answers)}
    responses = {(sample.number, sample.source): sample.choice for sample in decision.samples}
    record: Record = {
        "kind": REQUEST, "question": name, "at": time.time(), "model": decision.chat_request.model,
        "method": decision.method.name, "policy": decision.policy,
        "answers": [stored_answer(index, decision.policy, texts=texts) for index in indexes],
        "verdict": None if outcome.answer is None else indexes[outcome.answer],
        "confidence": _share(outcome.confidence), "share": outcome.share, "abstained": decision.abstained,
    }  # fmt: skip
    if owner:
        record["owner"] = owner
    samples = []
    for vote in outcome.votes:
        choice = responses.get((vote.sample, vote.source or ""))
        sample = {
            "sample": vote.sample, "llm": vote.source or model, "score": _share(vote.score),
            "answer": None if vote.answer is None else indexes[vote.answer],
            "tokens": choice.tokens if choice else None,
        }  # fmt: skip
        samples.append(sample | ({"response": choice.text} if texts and choice else {}))
    return record | {"samples": samples} | ({"prompt": decision.chat_request.question} if texts else {})


def _share(value: float | None) -> float | None:
    """A number in [0, 1]; None for any other."""
    return value if value is not None and 0 <= value <= 1 else None


def stored_answer(answer: str, policy: str, *, texts: bool) -> str:
    """An answer as it is stored.

    >>> stored_answer("42", "answer", texts=False), stored_answer('{"a": 1}', "json", texts=False)[:12]
    ('42', 'sha256:f9d86')
    """
    if texts or (policy == AnswerPolicy.name and len(answer) <= LONGEST):
        return answer
    return DIGEST + hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()


def correct_answers(record: dict[str, Any], label: str, reader: AnswerReader) -> list[bool]:
    """Per answer of a request, whether it equals the correct answer that was sent as the label."""
    answers, policy = record["answers"], record["policy"]
    spellings = {label} if policy == AnswerPolicy.name else {label, *_as_json(label)}
    equal = spellings | {stored_answer(spelling, policy, texts=False) for spelling in spellings}
    same = [text in equal for text in answers]
    if policy != AnswerPolicy.name or not answers:
        return same
    texts = pl.Series("answer", [replace_surrogates(text) for text in answers], pl.String)
    gold = pl.Series("gold", [replace_surrogates(label)], pl.String)
    _, flags = reader.labelled(texts, np.zeros(len(answers), np.int64), gold)
    return [one or bool(other) for one, other in zip(same, flags, strict=True)]


def _as_json(label: str) -> set[str]:
    """The canonical forms that a text may stand for: an object, or tool calls."""
    try:
        value = json.loads(label)
    except (ValueError, RecursionError):
        return set()
    return {replace_surrogates(json_form(label)), json.dumps(value)}
