"""What all requests of a server share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from steelyard.gateway.caps import Caps
from steelyard.gateway.feedback.feedback import Feedback
from steelyard.gateway.limits.admission import Admission
from steelyard.gateway.limits.draining import UnderWay
from steelyard.gateway.limits.priced_fields import check_priced_fields
from steelyard.gateway.messages.access_log import AccessLog, log_usage
from steelyard.gateway.messages.chat_request import ChatRequest
from steelyard.gateway.metrics import Metrics
from steelyard.gateway.upstream.source import Source
from steelyard.gateway.vote.counting import Counting
from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.spending import billed, total_cost
from steelyard.gateway.vote.vote_reply import completion
from steelyard.gateway.vote.voting import Voter, Voting
from steelyard.sampling.llm.prices import Prices, currency_of

Finished = Callable[[str, Decision, str], None]  # is told the id of a reply, its decision and its owner id


@dataclass
class State:
    """The one model that votes, the upstreams behind it, and what is counted about them.

    `finished` is who wants to know of every request that was voted on: metrics, the page, feedback.
    """

    name: str  # of the model that votes
    voter: Voter
    sources: list[Source]
    n: int
    caps: Caps
    counting: Counting = field(default_factory=Counting)
    metrics: Metrics = field(default_factory=Metrics)
    finished: list[Finished] = field(default_factory=list)
    created: int = 0
    keep_texts: bool = False  # whether prompts and answers of the last requests are remembered
    keys: int = 1  # of clients
    feedback: Feedback | None = None
    prices: Prices = field(default_factory=dict)
    allow_fields: tuple[str, ...] = ()  # that a request may have under a cap on its cost, whatever they cost
    warming: asyncio.Task[None] | None = None  # what the first vote would have to wait for
    access_log: AccessLog | None = None

    def __post_init__(self) -> None:
        self.under_way = UnderWay()
        self.admission = Admission(self.caps.in_flight, self.caps.queue, self.keys)
        self.voting = Voting(self.voter, self.sources, self.counting)
        self.metrics.paused.read = lambda: {each.name or each.model: each.pace.closed_for for each in self.sources}
        self.metrics.pauses.read = lambda: {each.name or each.model: each.pace.pauses for each in self.sources}

    def replied(self, request: web.Request, decision: Decision, named: dict[str, Any] | None = None) -> dict[str, Any]:
        """The reply to a request that was voted on; all who want to know of our own model's votes are told of it."""
        reply = completion(decision, self.prices, named)
        cost = total_cost(decision, self.prices)
        log_usage(request, billed(decision), len(decision.good), cost, currency_of(self.prices))
        for told in self.finished if decision.asked.model == self.name else ():
            told(reply["id"], decision, request[OWNER])
        return reply

    async def kept(self, reply: dict[str, Any]) -> None:
        """Return when all that is kept of a reply is on the disk."""
        if self.feedback:
            await self.feedback.kept(reply["id"])

    @property
    def models(self) -> list[str]:
        """The names that a client may ask for: of several upstreams the names that the operator has given them."""
        return [self.name, *(source.name or source.model for source in self.sources)]

    def check_price(self, asked: ChatRequest) -> None:
        """Refuse a request whose cost cannot be bounded, where there is a cap on it."""
        if self.caps.cost is not None:
            check_priced_fields(asked, self.allow_fields)

    def source_of(self, model: str) -> Source | None:
        """The upstream that a plain model is passed on to: by its name, or by its model where no other one has that."""
        named = [source for source in self.sources if source.name == model]
        serving = [source for source in self.sources if source.model == model]
        return named[0] if named else serving[0] if len(serving) == 1 else None


STATE = web.AppKey("state", State)
REQUEST_ID = web.RequestKey("request_id", str)
CLIENT = web.RequestKey("client", int)  # the number of its key
OWNER = web.RequestKey("owner", str)  # the owner id of its key, which is the same after a restart
