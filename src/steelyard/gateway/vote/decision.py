"""What became of a request that was voted on, for the reply, the metrics and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from steelyard.gateway.messages.chat_request import ChatRequest
from steelyard.gateway.messages.samples import Sample
from steelyard.gateway.messages.usage import added
from steelyard.gateway.vote.drawing import Drawing
from steelyard.gateway.vote.vote_settings import VoteSettings
from steelyard.sampling.ask.ask import Outcome
from steelyard.sampling.ask.cascade_outcome import CASCADE, CascadeAsked
from steelyard.voting.methods.base.method import Method


@dataclass(frozen=True)
class Party:
    """What one of several upstreams was asked for, and what came of it."""

    source: str
    model: str
    wanted: int  # samples
    drawn: int  # that the vote went by
    uncounted: int  # that it did not need
    failed: int
    why: str | None  # the first failure
    replies: list[dict[str, Any]]  # without their choices

    @classmethod
    def of(cls, drawing: Drawing, samples: Sequence[Sample], kept: Sequence[Sample]) -> Self:
        """Read it from all samples that came, and from those that the vote went by."""
        own = sorted((one for one in samples if one.source == drawing.source.name), key=lambda one: one.number)
        wrong = [one.error.reason for one in own if one.error]
        source = drawing.source
        counted = sum(one.choice is not None for one in kept if one.source == source.name)
        return cls(
            source.name, source.model, drawing.wanted.n, counted, len(own) - len(wrong) - counted, len(wrong),
            wrong[0] if wrong else None, drawing.replies,
        )  # fmt: skip


@dataclass
class Decision:
    """A decision, and how it came about."""

    asked: ChatRequest
    settings: VoteSettings
    policy: str
    method: Method
    outcome: Outcome
    samples: list[Sample]  # those that the vote went by, also failed ones, in the order of their numbers
    drawn: int  # samples that were wanted in all
    uncounted: int  # of those, how many came that the vote did not need
    failed: list[Sample]  # of those, the ones that were not given, in the order of their numbers
    cancelled: int  # of those, how many were under way when the drawing ended
    attempts: int
    at_once: bool
    replies: list[dict[str, Any]]
    stopped: str  # why no more were drawn
    verifier: str | None = None  # why the verifier was not believed
    threshold: float | None = None  # of the confidence, by the risk that was asked for
    notes: list[str] = field(default_factory=list)
    cascade: CascadeAsked | None = None  # who was asked and who was not, by a plan that has a cascade
    parties: list[Party] = field(default_factory=list)  # the upstreams that were asked, where there are several
    scoring: list[Mapping[str, Any] | None] = field(default_factory=list)  # tokens of each score of a verifier
    scored_by: str | None = None  # the upstream that verifies too

    @cached_property
    def usage(self) -> dict[str, Any] | None:
        """All that the upstreams have billed for samples; None where they count nothing."""
        return added(reply.get("usage") for reply in self.replies)

    @property
    def good(self) -> list[Sample]:
        """The samples that the vote went by, without failed ones."""
        return [sample for sample in self.samples if sample.choice]

    @property
    def abstained(self) -> bool:
        """Whether the confidence is not what the risk asks for."""
        if self.threshold is None:
            return False
        return self.outcome.confidence is None or not self.outcome.confidence >= self.threshold

    @property
    def voted_by(self) -> str:
        """The name of what weighed the samples."""
        return CASCADE if self.cascade else self.method.name
