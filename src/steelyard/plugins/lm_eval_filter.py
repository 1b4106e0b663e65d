"""A filter and a metric for lm-evaluation-harness: repeats are samples, and the vote is the filtered response.

The harness has no entry points, so a task names them by their paths (docs/plugins.md):

    filter_fn: !function steelyard.plugins.lm_eval_filter.majority
    metric: !function steelyard.plugins.lm_eval_filter.correct

Importing this module also registers the filter `steelyard`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl
from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter

from steelyard.answers.auto_kind import choose_kind
from steelyard.answers.extract import AUTO
from steelyard.answers.kind_choice import Evidence
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.errors import SettingError, TableError
from steelyard.tables.vote import vote

UNREADABLE = "[invalid]"  # as the harness's filter `regex` writes it


@register_filter("steelyard")
class SteelyardFilter(Filter):
    """Votes on the repeats of every question, by a plan or by a method that needs none (default: majority)."""

    def __init__(
        self, plan: str | None = None, method: str | None = None, score: str | None = None, answers: str = AUTO
    ) -> None:
        """The options are those of `steelyard vote`; of scores, those computed from the text are available (length)."""
        super().__init__()
        self.options: dict[str, Any] = {"plan": plan, "method": method, "score": score, "answers": answers}

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[dict[str, Any]]) -> list[list[str]]:
        """Return the answer to every question, in a list of one as the filter `majority_vote` does."""
        texts = [list(responses) for responses in resps]
        _check(texts, docs)
        rows = {
            "question": [f"{number:09d}" for number, responses in enumerate(texts) for _ in responses],
            "response": [text for responses in texts for text in responses],
        }
        options = self.options if self.options["score"] or self.options["plan"] else {**self.options, "score": "none"}
        verdicts = vote(pl.DataFrame(rows, schema={"question": pl.String, "response": pl.String}), **options)
        answers = dict(zip(verdicts["question"], verdicts["answer"], strict=True))
        return [[answers[f"{number:09d}"] or UNREADABLE] for number in range(len(texts))]


def majority(resps: Iterable[Sequence[str]], docs: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The majority vote, where 1/2 and 0.5 are one answer; for the filter `custom`."""
    return SteelyardFilter().apply(resps, docs)


def correct(references: Sequence[str], predictions: Sequence[Any], answers: str = AUTO) -> float:
    """Whether an answer is the reference, as Steelyard compares them: 1.0 or 0.0.

    >>> correct(references=["1/2"], predictions=["0.5"]), correct(references=["1/2"], predictions=["[invalid]"])
    (1.0, 0.0)
    """
    prediction = predictions[0]
    if not isinstance(prediction, str):
        raise TableError("the metric got several responses: add '- function: take_first' after the vote")
    gold = str(references[0])
    kind = choose_kind(Evidence([gold])).kind if answers == AUTO else answers
    reader = AnswerReader(kind)
    try:
        texts = pl.Series("answer", [prediction], pl.String)
        _, labels = reader.labelled(texts, np.zeros(1, np.int64), pl.Series("gold", [gold], pl.String))
    finally:
        reader.close()
    return float(labels[0])


def _check(texts: Sequence[Sequence[Any]], docs: Sequence[Any]) -> None:
    """Refuse what is not one list of texts per question."""
    if len(texts) != len(docs):
        raise TableError(f"there are {len(texts):,} lists of responses for {len(docs):,} questions: vote first")
    if not all(isinstance(text, str) for responses in texts for text in responses):
        raise TableError(
            "the responses are not texts: use a task that generates (output_type: generate_until), and put the vote "
            "before filters that select responses"
        )
    if all(len(responses) == 1 for responses in texts):
        raise SettingError("every question has one response, so there is nothing to vote on: set repeats: 8 or more")
