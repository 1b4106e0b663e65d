"""POST /page/ask: a chat request, with an event for the page after each sample.

It is a separate route, so that clients of the chat route never see events that they do not know. Every event is one
object: {"begun"}, {"sample", "vote"} for every sample, {"decided"} or {"error"} at the end. With ?stop=never all
samples are drawn, whatever the plan's stopping rule says.

With a stopping rule, the vote so far covers the samples at the places 0, 1, 2, .. without a gap, as the rule itself
does; without one, all that have arrived. A cascade weighs its upstreams together, so no vote is shown before its end.
Only the vote at the end decides.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
from aiohttp import web

from steelyard.gateway.http.chat_route import read_body, vote_settings
from steelyard.gateway.http.vote_stream import HEARTBEAT
from steelyard.gateway.messages.access_log import log_error
from steelyard.gateway.messages.api_errors import ApiError, invalid, public
from steelyard.gateway.messages.chat_request import OURS, ChatRequest, read_chat
from steelyard.gateway.messages.replies import PING, event, start_stream
from steelyard.gateway.server_state import CLIENT, REQUEST_ID, STATE
from steelyard.gateway.tracing import trace_request
from steelyard.gateway.upstream.samples import Sample
from steelyard.gateway.vote.decision import Decision, total_cost
from steelyard.gateway.vote.policies import SIMILAR, Policy, policy_of, similar_policy
from steelyard.gateway.vote.request_vote import Voting, similar_entries, similar_method
from steelyard.gateway.vote.vote_counter import VoteEntry
from steelyard.gateway.vote.vote_settings import VoteSettings
from steelyard.sampling.ask.prepare import unplanned
from steelyard.sampling.ask.sample_votes import Outcome, place_of
from steelyard.sampling.interrupts import cancel_and_wait
from steelyard.sampling.online.cascade_walk import BallotState
from steelyard.sampling.online.similar_texts import EmbeddedTexts
from steelyard.voting.stopping.stopping_rule import PrefixVotes, Rule

SIDE_BY_SIDE = (1, 4, 16)  # samples
LONGEST = 20_000  # characters of a response that are shown
Update = tuple[Sample, BallotState | None] | None  # None: the request is decided


async def ask(request: web.Request) -> web.StreamResponse:
    """Answer a question of the page."""
    state = request.app[STATE]
    async with state.admission.slot(request[CLIENT]):
        chat_request = read_chat(await read_body(request, state), state.caps)
        if chat_request.model != state.name:
            raise invalid("model", f"the page asks the model that votes: {state.name}")
        trace_request(request, chat_request)
        settings = replace(vote_settings(state, chat_request), ballots=True, separately=True)
        voting = without_rule(state.voting) if request.query.get("stop") == "never" else state.voting
        live, updates, began = LiveVote(voting, chat_request, settings), asyncio.Queue[Update](), time.monotonic()
        deciding = asyncio.create_task(
            voting.decide(chat_request, settings, request[REQUEST_ID], lambda *update: updates.put_nowait(update))
        )
        deciding.add_done_callback(lambda _: updates.put_nowait(None))
        try:
            response = await start_stream(request)
            begin = {"samples": live.places.total, "upstreams": len(state.sources), "cascade": live.cascade}
            await response.write(event({"begun": begin}))
            while (update := await _next(updates, response)) is not None:
                await response.write(event(await live.add(*update)))
            await response.write(event(await _last_event(request, deciding, live, began)))
            await response.write_eof()
            return response
        finally:
            await cancel_and_wait(deciding)


async def _next(updates: asyncio.Queue[Update], response: web.StreamResponse) -> Update:
    """The next sample, None after the decision; heartbeats are sent while waiting."""
    while True:
        try:
            async with asyncio.timeout(HEARTBEAT):
                return await updates.get()
        except TimeoutError:
            await response.write(PING)


async def _last_event(
    request: web.Request, deciding: asyncio.Task[Decision], live: LiveVote, began: float
) -> dict[str, Any]:
    """The last event: the decision, or the error."""
    try:
        decision = await deciding
    except ApiError as error:
        log_error(request, error)
        return error.body
    seconds, state = time.monotonic() - began, request.app[STATE]
    reply = await state.make_reply(request, decision)
    message = reply["choices"][0]["message"]
    return {
        "decided": {
            "id": reply["id"],
            "text": message.get("content"),
            "refusal": message.get("refusal"),
            "seconds": seconds,
            "usage": reply["usage"],
            "cost": total_cost(decision, state.prices),
            "vote": reply[OURS],
            "places": [live.places.of(vote.sample, vote.source) for vote in decision.outcome.votes],
            "side_by_side": await live.side_by_side(decision),
        }
    }


class LiveVote:
    """Votes on the samples of one request after each of them."""

    def __init__(self, voting: Voting, chat_request: ChatRequest, settings: VoteSettings) -> None:
        self.counter, self.until = voting.counter, time.monotonic() + settings.deadline_s
        self.method, self.free = voting.method(settings), similar_policy(chat_request)
        self.policy = policy_of(chat_request, voting.voter.answers, settings.vote_on, settings.similarity)
        self.samples: list[Sample] = []
        self.vectors: EmbeddedTexts | None = None  # by which the decision compared free text
        self.cascade = voting.voter.cascade is not None and settings.method is None
        self.places = Places(voting.samples(settings))

    async def add(self, sample: Sample, by_rule: BallotState | None) -> dict[str, Any]:
        """Add a sample; return its event, with the vote so far on the samples that the rule has counted."""
        others = [one for one in self.samples if (one.number, one.source) != (sample.number, sample.source)]
        self.samples = sorted([*others, sample], key=self._place)
        event_data = _sample_event(sample) | {"number": self._place(sample)}
        if self.cascade:
            return {"sample": event_data, "vote": None}
        rule = self.method.stopping_ if self.method else None
        counted = [one for one in self.samples if by_rule is None or self._place(one) < by_rule.samples]
        return {"sample": event_data, "vote": await self._vote(counted, rule)}

    async def side_by_side(self, decision: Decision) -> list[dict[str, Any] | None]:
        """The votes on the first 1, 4 and 16 samples of a decision, as far as it has as many; none for a cascade."""
        self.vectors = decision.vectors
        samples = [] if self.cascade else sorted(decision.samples, key=self._place)
        rows = [samples[:n] for n in SIDE_BY_SIDE if n <= len(samples)]
        return [await self._vote(row, None) for row in rows]

    def _place(self, sample: Sample) -> int:
        return self.places.of(sample.number, sample.source)

    async def _vote(self, samples: Sequence[Sample], rule: Rule | None) -> dict[str, Any] | None:
        if not samples:
            return None
        trusted = all(one.unscored is None for one in self.samples)

        def entries(policy: Policy) -> list[VoteEntry]:
            return [
                VoteEntry(one.number, one.source, policy.answer(one), one.score if trusted else None)
                for one in samples
            ]  # fmt: skip

        rows, texts = entries(self.policy), self.policy.texts and (self.vectors or self.policy.texts)
        method = self.method or unplanned(any(row.score is not None for row in rows), bool(rows[0].source))
        outcome, _ = await self.counter.outcome(rows, method, self.policy.kind, self.until, texts=texts)
        if outcome.answer is None and (similar := await similar_entries(self.policy, self.free, samples, entries)):
            method, kind, texts = similar_method(self.method, similar), self.free.kind, self.vectors or self.free.texts
            outcome, _ = await self.counter.outcome(similar, method, kind, self.until, texts=texts)
        state = vote_state(outcome, self.places)
        if rule is not None and rule.thresholds:
            state["rule"] = {"value": _signal(rule, outcome), "threshold": rule.threshold}
        return state


def vote_state(outcome: Outcome, places: Places) -> dict[str, Any]:
    """A vote as the page reads it; `given` maps the place of each sample to the index of its answer."""
    indexes = {one.answer: index for index, one in enumerate(outcome.answers)}
    return {
        "samples": len(outcome.votes),
        "answer": outcome.answer,
        "confidence": outcome.confidence,
        "share": outcome.share,
        "none_correct": outcome.none_correct,
        "policy": SIMILAR if outcome.leaders else None,
        "answers": [one._asdict() for one in outcome.answers],
        "given": {
            places.of(one.sample, one.source): indexes[one.answer] for one in outcome.votes if one.answer is not None
        },
    }


def without_rule(voting: Voting) -> Voting:
    """The same voting without the stopping rule and the cascade."""
    method = copy(voting.voter.method)
    if method is not None:
        method.stopping_ = None
    return replace(voting, voter=replace(voting.voter, method=method, cascade=None))


def _signal(rule: Rule, outcome: Outcome) -> float:
    """The signal of a rule after these samples."""
    votes = {one.answer: one.votes for one in outcome.answers}
    ahead = votes.pop(outcome.answer, 0) if outcome.answer is not None else 0
    size = np.array([len(outcome.votes)])
    learned = outcome.confidence is not None
    answers = dict.fromkeys(one.answer for one in outcome.votes if one.answer is not None)
    order = {answer: i for i, answer in enumerate(answers)}
    numbers = [-1 if one.answer is None else order[one.answer] for one in outcome.votes]
    prefix = PrefixVotes(
        size, size, np.array([[0 if ahead else -1]], np.int32),
        np.array([[outcome.confidence if learned else np.nan]], np.float64), np.array([[ahead]]),
        np.array([[max(votes.values(), default=0)]]), np.array([numbers]),
        np.array([[-1 if outcome.answer is None else order.get(outcome.answer, -1)]]), learned=learned,
    )  # fmt: skip
    return float(rule.signal(prefix)[0, 0])


def _sample_event(sample: Sample) -> dict[str, Any]:
    text = sample.choice.text if sample.choice else None
    return {
        "source": sample.source or None,
        "text": text[:LONGEST] if text else text,
        "cut": max(0, len(text) - LONGEST) if text else 0,
        "finish": sample.choice.finish if sample.choice else None,
        "score": sample.score,
        "error": public(sample.error.reason) if sample.error else None,
    }


class Places:
    """Numbers the samples of all upstreams for the page; `samples` is the largest number of samples per upstream.

    If all give equally many, these are the places that a stopping rule uses; otherwise upstreams follow one another.

    >>> Places({"a": 2, "b": 2}).of(1, "a"), Places({"a": 2, "b": 1}).of(0, "b")
    (2, 2)
    """

    def __init__(self, samples: Mapping[str, int]) -> None:
        self._names = list(samples)
        self._equal = len(set(samples.values())) == 1
        self._first = dict(zip(samples, accumulate(samples.values(), initial=0), strict=False))
        self.total = sum(samples.values())

    def of(self, number: int, source: str | None) -> int:
        name = source or ""
        return place_of(number, name, self._names) if self._equal else self._first[name] + number
