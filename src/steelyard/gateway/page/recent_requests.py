"""The last requests that each key sent to be voted on, in memory: how each was decided, and its ballot.

What people wrote, and what models answered, is kept only where the operator says so: whoever shares a key shares its
requests. Without that the answers are numbered, and there is no prompt.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np

from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.vote_reply import ballots, voted
from steelyard.voting.confidence.drift import MOST_REFERENCES, Drift, score_drift
from steelyard.voting.score_weights import clipped_logit

KEPT = 10  # requests of a key
MOST_OWNERS = 100  # keys whose requests are remembered: those that asked last
LONGEST_PROMPT = 2000  # characters
LONGEST_ANSWER = 200
LEAST_SCORED = 20  # requests whose scores can be held against those of the calibration set
FIELDS = ("confidence", "share", "abstained", "policy", "method", "none_correct", "samples", "stopped")


class RecentRequests:
    """Remembers the last requests; `texts`: with their prompts and answers."""

    def __init__(self, *, texts: bool) -> None:
        self.texts = texts
        self._listed: dict[str, deque[dict[str, Any]]] = {}  # by owner id, who asked last at the end
        self._means: deque[float] = deque(maxlen=MOST_REFERENCES)  # of the evidence of a request's samples
        self._reference: tuple[float, ...] = ()

    def decided(self, name: str, decision: Decision, owner: str) -> None:
        """Remember a request."""
        whole = voted(decision)
        answers = [one["answer"] for one in whole["answers"]]
        names: dict[str | None, str | None] = {each: self._named(each, place) for place, each in enumerate(answers, 1)}
        names[None] = None
        entry = {field: whole[field] for field in FIELDS}
        if decision.threshold is not None:
            entry["threshold"] = decision.threshold
        if decision.notes:
            entry["notes"] = decision.notes
        entry |= {
            "id": name,
            "at": time.time(),
            "answer": names[whole["answer"]],
            "answers": [one | {"answer": names[one["answer"]]} for one in whole["answers"]],
            "ballots": [one | {"answer": names[one["answer"]]} for one in ballots(decision)],
            "prompt": decision.asked.question[:LONGEST_PROMPT] if self.texts else None,
        }
        own = self._listed.pop(owner, None) or deque[dict[str, Any]](maxlen=KEPT)
        own.appendleft(entry)
        self._listed[owner] = own
        if len(self._listed) > MOST_OWNERS:
            del self._listed[next(iter(self._listed))]
        self._remember_scores(decision)

    def of(self, owner: str) -> list[dict[str, Any]]:
        """The requests of one key, the newest first."""
        return list(self._listed.get(owner, ()))

    def drift(self) -> Drift | None:
        """How far the scores have moved from those of the calibration set; None where too few are known."""
        if len(self._means) < LEAST_SCORED or not self._reference:
            return None
        return score_drift(self._reference, list(self._means))

    def _named(self, answer: str, place: int) -> str:
        return answer[:LONGEST_ANSWER] if self.texts else f"answer {place}"

    def _remember_scores(self, decision: Decision) -> None:
        fitted = decision.method.fitted_on_
        scores = [vote.score for vote in decision.outcome.votes if vote.score is not None]
        if fitted and fitted.reference_scores and scores:
            self._reference = tuple(fitted.reference_scores)
            self._means.append(float(np.mean(clipped_logit(np.array(scores)))))
