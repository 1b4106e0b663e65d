"""Score reducers for Inspect: epochs are samples, and the reduced score is that of the winning answer.

Inspect finds them by name once this package is installed: Epochs(16, "steelyard/steelyard_majority"). With settings:
Epochs(16, steelyard(plan="plan.json")).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.scorer import Score, ScoreReducer, score_reducer, value_to_float

from steelyard.answers.extract import AUTO
from steelyard.foundation.errors import TableError
from steelyard.plugins.question_vote import Numbers, QuestionVote
from steelyard.sampling.ask.sample_votes import Outcome

PANEL = "panel"  # the key of the votes in the metadata, as for Inspect's own `majority`


def _steelyard(
    plan: str | None = None, method: str | None = None, score: str | None = None, answers: str = AUTO
) -> ScoreReducer:
    """Vote with a plan of `steelyard fit`, or with a method that needs none; by default the majority vote.

    Args:
        plan: Path of the plan.
        method: Name of a method that needs no plan, such as "vanilla".
        score: Name of the score in the scorer's value, if the plan does not say it.
        answers: Kind of answers ("math", "choice", ..; `steelyard answers --help`). By default the plan's, else what
            the answers to each question look like.
    """
    return _Reducer(QuestionVote.of(plan, method, score, answers), "steelyard")


def _steelyard_majority(answers: str = AUTO) -> ScoreReducer:
    """Take the answer of most epochs, where 1/2 and 0.5 are one answer.

    Args:
        answers: Kind of answers.
    """
    return _Reducer(QuestionVote.of(None, "majority", None, answers), "steelyard_majority")


steelyard = score_reducer(name="steelyard")(_steelyard)
steelyard_majority = score_reducer(name="steelyard_majority")(_steelyard_majority)
score_reducer(name="steelyard/steelyard")(_steelyard)  # a name with a package makes Inspect load the package
score_reducer(name="steelyard/steelyard_majority")(_steelyard_majority)


class _Reducer:
    """Reduces the scores of the epochs of one sample."""

    def __init__(self, vote: QuestionVote, name: str) -> None:
        self.vote, self.__name__ = vote, name

    def __call__(self, scores: list[Score]) -> Score:
        scored = [index for index, score in enumerate(scores) if not _is_unscored(score)]
        if not scored:
            return _unscored(scores)
        voting = [scores[index] for index in scored]
        outcome = self.vote.decide([score.answer or None for score in voting], [_numbers(s.value) for s in voting])
        winner = self._winner(voting, outcome)
        return winner.model_copy(
            update={
                "answer": outcome.answer,
                "metadata": {**(winner.metadata or {}), PANEL: _panel(scores, scored, outcome)},
                "history": [],
            }
        )

    def _winner(self, scores: Sequence[Score], outcome: Outcome) -> Score:
        """The score of an epoch with the winning answer; if they differ, one with the most frequent value.

        As for labels, a tie is not in favour of the answer. Without a readable answer, the lowest value counts.
        """
        winners = [score for score, vote in zip(scores, outcome.votes, strict=True) if vote.answer == outcome.answer]
        labels = [_label(score.value, self.vote) for score in winners]
        counts = Counter(labels)
        if len(counts) > 1 and not any(score.answer for score in scores):
            raise TableError(
                "the scorer gave different values to epochs without an answer, so no vote can choose between them: "
                "set Score.answer in the scorer"
            )
        if outcome.answer is None:
            return min(winners, key=lambda score: _worth(score.value, self.vote))
        return max(
            zip(winners, labels, strict=True), key=lambda pair: (counts[pair[1]], -_worth(pair[0].value, self.vote))
        )[0]


def _numbers(value: Any) -> Numbers:
    """The numbers and lists of numbers in a value, by name; NaN is a missing score."""
    if not isinstance(value, Mapping):
        return {}
    return {name: _finite(entry) for name, entry in value.items() if not isinstance(entry, str | bool)}


def _finite(entry: Any) -> Any:
    return None if isinstance(entry, float) and math.isnan(entry) else entry


def _judged(value: Any, vote: QuestionVote) -> Any:
    """A value without the scores that voted."""
    if isinstance(value, Mapping):
        return {name: entry for name, entry in value.items() if not vote.uses(name)}
    return value


def _label(value: Any, vote: QuestionVote) -> str:
    """A value without the scores that voted, for comparison."""
    return json.dumps(_judged(value, vote), sort_keys=True, default=str)


def _worth(value: Any, vote: QuestionVote) -> float:
    """How good a value is, as a number: I is 0, P 0.5 and C 1; several entries are added."""
    judged = _judged(value, vote)
    entries = judged.values() if isinstance(judged, Mapping) else judged if isinstance(judged, list) else [judged]
    return float(sum(map(value_to_float(), entries)))


def _is_unscored(score: Score) -> bool:
    return isinstance(score.value, float) and math.isnan(score.value)


def _unscored(scores: Sequence[Score]) -> Score:
    """The score of a sample without scored epochs."""
    reasons = {score.reason for score in scores}
    reason = reasons.pop() if len(reasons) == 1 else None
    return Score.unscored(reason=reason, metadata={PANEL: _panel(scores, [], None)})


def _panel(scores: Sequence[Score], scored: Sequence[int], outcome: Outcome | None) -> dict[str, Any]:
    """The votes by epoch under the names of Inspect's `majority`, with their weights and the confidence."""
    votes: list[str | None] = [None] * len(scores)
    weights: list[float | None] = [None] * len(scores)
    for index, vote in zip(scored, outcome.votes if outcome else [], strict=True):
        votes[index], weights[index] = vote.answer, vote.weight
    failures = [
        {"index": index, "reason": score.reason, "explanation": score.explanation}
        for index, score in enumerate(scores)
        if index not in scored
    ]
    return {
        "votes": votes,
        "size": len(scores),
        "failures": failures,
        "weights": weights,
        "confidence": outcome.confidence if outcome else None,
        "share": outcome.share if outcome else 0.0,
    }
