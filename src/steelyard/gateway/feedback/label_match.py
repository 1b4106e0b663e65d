"""What a label says of the answers of a request: which are correct.

Without the operator's word no response is kept, and an answer that is long, or is the whole response (JSON, calls of
tools), is one: its digest is kept in its place, which is enough to know it again.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import polars as pl

from steelyard.answers.kinds.json import json_form
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.gateway.vote.policies import AnswerPolicy

LONGEST = 100  # characters of an answer that is no response
DIGEST = "sha256:"


def kept_name(answer: str, policy: str, *, texts: bool) -> str:
    """An answer as it is kept.

    >>> kept_name("42", "answer", texts=False), kept_name('{"a": 1}', "json", texts=False)[:12]
    ('42', 'sha256:f9d86')
    """
    if texts or (policy == AnswerPolicy.name and len(answer) <= LONGEST):
        return answer
    return DIGEST + hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()


def correct_answers(record: dict[str, Any], given: str, reader: AnswerReader) -> list[bool]:
    """For each answer of a request, whether it is the one that was given as correct."""
    kept, policy = record["answers"], record["policy"]
    spelled = {given} if policy == AnswerPolicy.name else {given, *_as_json(given)}
    alike = spelled | {kept_name(each, policy, texts=False) for each in spelled}
    same = [each in alike for each in kept]
    if policy != AnswerPolicy.name or not kept:
        return same
    texts = pl.Series("answer", [replace_surrogates(each) for each in kept], pl.String)
    gold = pl.Series("gold", [replace_surrogates(given)], pl.String)
    _, found = reader.labelled(texts, np.zeros(len(kept), np.int64), gold)
    return [one or bool(other) for one, other in zip(same, found, strict=True)]


def _as_json(given: str) -> set[str]:
    """The canonical forms that a text may stand for: of an object, and of calls of tools."""
    try:
        value = json.loads(given)
    except (ValueError, RecursionError):
        return set()
    return {replace_surrogates(json_form(given)), json.dumps(value)}
