"""What all requests of a server share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from steelyard.gateway.caps import Caps
from steelyard.gateway.feedback.feedback import Feedback
from steelyard.gateway.limits.admission import Admission, InFlight
from steelyard.gateway.limits.request_budget import check_priced_fields
from steelyard.gateway.messages.access_log import AccessLog, log_usage
from steelyard.gateway.messages.chat_request import ChatRequest
from steelyard.gateway.metrics import Metrics
from steelyard.gateway.tracing import trace_reply
from steelyard.gateway.upstream.source import Source
from steelyard.gateway.vote.decision import Decision, billed_usage, total_cost
from steelyard.gateway.vote.request_vote import Voter, Voting
from steelyard.gateway.vote.vote_counter import VoteCounter
from steelyard.gateway.vote.vote_reply import completion
from steelyard.sampling.llm.prices import Prices, currency_of

DecisionListener = Callable[[str, Decision, str], None]  # gets the id of a reply, its decision and its owner id


@dataclass
class State:
    """The one model that votes, the upstreams behind it, and their metrics."""

    name: str  # of the model that votes
    voter: Voter
    sources: list[Source]
    n: int
    caps: Caps
    counter: VoteCounter = field(default_factory=VoteCounter)
    metrics: Metrics = field(default_factory=Metrics)
    listeners: list[DecisionListener] = field(default_factory=list)  # metrics, the page and feedback: called per vote
    created: int = 0
    keep_texts: bool = False  # whether prompts and answers of recent requests are kept in memory
    keys: int = 1  # of clients
    feedback: Feedback | None = None
    prices: Prices = field(default_factory=dict)
    allow_fields: tuple[str, ...] = ()  # that a request may have under a cost limit, whatever they cost
    warming: asyncio.Task[None] | None = None  # compiles what the first vote would otherwise wait for
    access_log: AccessLog | None = None

    def __post_init__(self) -> None:
        self.in_flight = InFlight()
        self.admission = Admission(self.caps.in_flight, self.caps.queue, self.keys)
        self.voting = Voting(self.voter, self.sources, self.counter)
        self.metrics.paused.read = lambda: {
            source.name or source.model: source.pace.closed_for for source in self.sources
        }
        self.metrics.pauses.read = lambda: {source.name or source.model: source.pace.pauses for source in self.sources}

    async def make_reply(
        self, request: web.Request, decision: Decision, header: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The reply to a request that was voted on, once its record is on disk; calls the listeners if we voted."""
        reply = completion(decision, self.prices, header)
        cost = total_cost(decision, self.prices)
        log_usage(request, billed_usage(decision), len(decision.good), cost, currency_of(self.prices))
        voted = decision.chat_request.model == self.name
        trace_reply(request, reply, decision, voted=voted)
        for listener in self.listeners if voted else ():
            listener(reply["id"], decision, request[OWNER])
        if self.feedback:
            await self.feedback.wait_until_stored(reply["id"])
        return reply

    @property
    def models(self) -> list[str]:
        """The models that a client may request; several upstreams go by the names that the operator has given them."""
        return [self.name, *(source.name or source.model for source in self.sources)]

    def check_price(self, chat_request: ChatRequest) -> None:
        """Refuse a request whose cost cannot be bounded, if there is a cost limit."""
        if self.caps.cost is not None:
            check_priced_fields(chat_request, self.allow_fields)

    def source_of(self, model: str) -> Source | None:
        """The upstream that serves a model: by its name, or by its model if only one upstream has it."""
        by_name = [source for source in self.sources if source.name == model]
        by_model = [source for source in self.sources if source.model == model]
        return by_name[0] if by_name else by_model[0] if len(by_model) == 1 else None


STATE = web.AppKey("state", State)
REQUEST_ID = web.RequestKey("request_id", str)
CLIENT = web.RequestKey("client", int)  # the number of its key
OWNER = web.RequestKey("owner", str)  # the owner id of its key, which is the same after a restart
