"""How a request stands while its samples come, for the page: the answers so far, and how near the rule is to a stop.

With a stopping rule the samples at the places 0, 1, 2, .. count that are there without a gap, as for the rule itself;
without one all that came do. A cascade weighs what its upstreams say together, and no vote is told before its end. Only
the vote at the end decides.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from steelyard.gateway.messages.api_errors import public
from steelyard.gateway.messages.chat_request import ChatRequest
from steelyard.gateway.messages.samples import Sample
from steelyard.gateway.vote.counting import Counted
from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.page_places import Places
from steelyard.gateway.vote.policies import policy_of
from steelyard.gateway.vote.vote_settings import VoteSettings
from steelyard.gateway.vote.voting import Voting
from steelyard.sampling.ask.ask import Outcome, unplanned
from steelyard.sampling.online.standing import Standing
from steelyard.voting.methods import method_class
from steelyard.voting.stopping.stopping_rule import PrefixVotes, Rule

SIDE_BY_SIDE = (1, 4, 16)  # samples
LONGEST = 20_000  # characters of a response that are shown


class LiveVote:
    """Votes on the samples of one request after each of them."""

    def __init__(self, voting: Voting, asked: ChatRequest, settings: VoteSettings) -> None:
        self.counting, self.until = voting.counting, time.monotonic() + settings.deadline_s
        self.method = method_class(settings.method)() if settings.method else voting.voter.method
        self.policy = policy_of(asked, voting.voter.answers, settings.vote_on)
        self.samples: list[Sample] = []
        self.cascade = voting.voter.cascade is not None and settings.method is None
        self.places = Places(voting.samples(settings))

    async def add(self, sample: Sample, by_rule: Standing | None) -> dict[str, Any]:
        """Take a sample in; tell of it and of the vote so far, on the samples that the rule has counted."""
        others = [one for one in self.samples if (one.number, one.source) != (sample.number, sample.source)]
        self.samples = sorted([*others, sample], key=self._place)
        told = _told(sample) | {"number": self._place(sample)}
        if self.cascade:
            return {"sample": told, "vote": None}
        rule = self.method.stopping_ if self.method else None
        counted = [one for one in self.samples if by_rule is None or self._place(one) < by_rule.samples]
        return {"sample": told, "vote": await self._vote(counted, rule)}

    async def side_by_side(self, decision: Decision) -> list[dict[str, Any] | None]:
        """The votes on the first 1, 4 and 16 samples of a decision, as far as there are so many; none of a cascade."""
        samples = [] if self.cascade else sorted(decision.samples, key=self._place)
        rows = [samples[:n] for n in SIDE_BY_SIDE if n <= len(samples)]
        return [await self._vote(row, None) for row in rows]

    def ballot_places(self, decision: Decision) -> list[int]:
        """The places of the samples in the ballot of a decision."""
        return [self.places.of(vote.sample, vote.source) for vote in decision.outcome.votes]

    def _place(self, sample: Sample) -> int:
        return self.places.of(sample.number, sample.source)

    async def _vote(self, samples: Sequence[Sample], rule: Rule | None) -> dict[str, Any] | None:
        if not samples:
            return None
        believed = all(one.unscored is None for one in self.samples)
        rows = [
            Counted(one.number, one.source, self.policy.answer(one), one.score if believed else None)
            for one in samples
        ]  # fmt: skip
        method = self.method or unplanned(any(row.score is not None for row in rows), bool(rows[0].source))
        outcome, _ = await self.counting.outcome(rows, method, self.policy.kind, self.until)
        told = standing(outcome, self.places)
        if rule is not None and rule.thresholds:
            told["rule"] = {"value": _signal(rule, outcome), "threshold": rule.threshold}
        return told


def standing(outcome: Outcome, where: Places) -> dict[str, Any]:
    """A vote in the words of the page; `given` is for the place of every sample which of the answers it gave."""
    places = {one.answer: place for place, one in enumerate(outcome.answers)}
    return {
        "samples": len(outcome.votes),
        "answer": outcome.answer,
        "confidence": outcome.confidence,
        "share": outcome.share,
        "none_correct": outcome.none_correct,
        "answers": [one._asdict() for one in outcome.answers],
        "given": {
            where.of(vote.sample, vote.source): places[vote.answer] for vote in outcome.votes if vote.answer is not None
        },
    }


def without_rule(voting: Voting) -> Voting:
    """The same votes, which draw all samples."""
    method = copy(voting.voter.method)
    if method is not None:
        method.stopping_ = None
    return replace(voting, voter=replace(voting.voter, method=method, cascade=None))


def _signal(rule: Rule, outcome: Outcome) -> float:
    """How sure a rule is after these samples."""
    votes = {one.answer: one.votes for one in outcome.answers}
    ahead = votes.pop(outcome.answer, 0) if outcome.answer is not None else 0
    size = np.array([len(outcome.votes)])
    learned = outcome.confidence is not None
    prefix = PrefixVotes(
        size, size, np.array([[0 if ahead else -1]], np.int32),
        np.array([[outcome.confidence if learned else np.nan]], np.float64), np.array([[ahead]]),
        np.array([[max(votes.values(), default=0)]]), learned=learned,
    )  # fmt: skip
    return float(rule.signal(prefix)[0, 0])


def _told(sample: Sample) -> dict[str, Any]:
    text = sample.choice.text if sample.choice else None
    return {
        "source": sample.source or None,
        "text": text[:LONGEST] if text else text,
        "cut": max(0, len(text) - LONGEST) if text else 0,
        "finish": sample.choice.finish if sample.choice else None,
        "score": sample.score,
        "error": public(sample.error.reason) if sample.error else None,
    }
