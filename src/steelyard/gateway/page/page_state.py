"""GET /page/state: what the page shows before anything is asked, and the last requests of its key."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from steelyard.gateway.http.page_route import page
from steelyard.gateway.messages.json_text import json_bytes
from steelyard.gateway.page.page_ask import ask
from steelyard.gateway.page.recent_requests import RecentRequests
from steelyard.gateway.state import OWNER, STATE, State
from steelyard.sampling.llm.prices import currency_of

RECENT = web.AppKey("recent", RecentRequests)


def add_page(app: web.Application, state: State) -> None:
    """Add the routes of the page, and remember requests for it."""
    app[RECENT] = RecentRequests(texts=state.keep_texts)
    state.finished.append(app[RECENT].decided)
    app.add_routes([web.get("/", page), web.get("/page/state", page_state), web.post("/page/ask", ask)])


async def page_state(request: web.Request) -> web.Response:
    """The model, its rule, the last requests of this key, and whether scores look as they did."""
    state, recent = request.app[STATE], request.app[RECENT]
    drift = await asyncio.to_thread(recent.drift)
    told: dict[str, Any] = {
        "model": state.name,
        "n": state.n,
        "most": state.caps.samples,
        "method": _method(state),
        "texts": recent.texts,
        "feedback": state.feedback is not None,
        "currency": currency_of(state.prices),
        "requests": recent.of(request[OWNER]),
        "drift": None if drift is None else {**vars(drift), "moved": drift.warning is not None},
    }
    return web.Response(body=json_bytes(told), content_type="application/json")


def _method(state: State) -> dict[str, Any] | None:
    """The plan's method and its stopping rule; None where the method goes by the scores there are."""
    method = state.voter.method
    if method is None:
        return None
    rule = method.stopping_
    said = None if rule is None else {"name": rule.name, "threshold": rule.threshold, "cap": rule.cap}
    return {"name": method.name, "colour": method.colour, "rule": said}
