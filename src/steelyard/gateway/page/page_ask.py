"""POST /page/ask: a chat request as /v1/chat/completions takes it, told to the page sample by sample.

It is a route of its own, so that no client of the chat route ever sees an event that it does not know. Every event is
one object: {"begun"}, {"sample", "vote"} for every sample, {"decided"} or {"error"} at the end. With ?stop=never all
samples are drawn, whatever the plan's stopping rule says.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

from aiohttp import web

from steelyard.gateway.http.chat_route import read_body, vote_settings
from steelyard.gateway.http.vote_stream import HEARTBEAT
from steelyard.gateway.messages.access_log import log_error
from steelyard.gateway.messages.api_errors import ApiError, invalid
from steelyard.gateway.messages.chat_request import OURS, read_chat
from steelyard.gateway.messages.event_stream import PING, begun, event
from steelyard.gateway.messages.samples import Sample
from steelyard.gateway.state import CLIENT, REQUEST_ID, STATE
from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.live_vote import LiveVote, without_rule
from steelyard.gateway.vote.spending import total_cost
from steelyard.sampling.online.standing import Standing

News = tuple[Sample, Standing | None] | None  # None: it is decided


async def ask(request: web.Request) -> web.StreamResponse:
    """Answer the page."""
    state = request.app[STATE]
    async with state.admission.place(request[CLIENT]):
        asked = read_chat(await read_body(request, state), state.caps)
        if asked.model != state.name:
            raise invalid("model", f"the page asks the model that votes: {state.name}")
        settings = replace(vote_settings(state, asked), ballots=True, apart=True)
        voting = without_rule(state.voting) if request.query.get("stop") == "never" else state.voting
        live, news, began = LiveVote(voting, asked, settings), asyncio.Queue[News](), time.monotonic()
        deciding = asyncio.create_task(
            voting.decide(asked, settings, request[REQUEST_ID], lambda *came: news.put_nowait(came))
        )
        deciding.add_done_callback(lambda _: news.put_nowait(None))
        try:
            response = await begun(request)
            begin = {"samples": live.places.total, "upstreams": len(state.sources), "cascade": live.cascade}
            await response.write(event({"begun": begin}))
            while (came := await _next(news, response)) is not None:
                await response.write(event(await live.add(*came)))
            await response.write(event(await _ended(request, deciding, live, began)))
            await response.write_eof()
            return response
        finally:
            deciding.cancel()
            await asyncio.gather(deciding, return_exceptions=True)


async def _next(news: asyncio.Queue[News], response: web.StreamResponse) -> News:
    """The next sample, None when it is decided; heartbeats until then."""
    while True:
        try:
            async with asyncio.timeout(HEARTBEAT):
                return await news.get()
        except TimeoutError:
            await response.write(PING)


async def _ended(
    request: web.Request, deciding: asyncio.Task[Decision], live: LiveVote, began: float
) -> dict[str, Any]:
    """The last event: the decision, or the error that there is in its place."""
    try:
        decision = await deciding
    except ApiError as error:
        log_error(request, error)
        return error.body
    seconds, state = time.monotonic() - began, request.app[STATE]
    reply = state.replied(request, decision)
    await state.kept(reply)
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
            "places": live.ballot_places(decision),
            "side_by_side": await live.side_by_side(decision),
        }
    }
