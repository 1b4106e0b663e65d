"""GET /v1/models, /healthz, /readyz and /metrics."""

from __future__ import annotations

import asyncio
import math
from typing import Any

from aiohttp import web

from steelyard.gateway.messages.access_log import FIELDS
from steelyard.gateway.messages.api_errors import ApiError, public
from steelyard.gateway.messages.chat_request import unknown_model
from steelyard.gateway.state import STATE, State


async def models(request: web.Request) -> web.Response:
    """List what a client may ask for."""
    state = request.app[STATE]
    return web.json_response({"object": "list", "data": [_model(state, name) for name in state.models]})


async def model(request: web.Request) -> web.Response:
    """One of them; an id may have slashes."""
    state, name = request.app[STATE], request.match_info["id"]
    if name not in state.models:
        raise unknown_model(name, state.models)
    return web.json_response(_model(state, name))


def _model(state: State, name: str) -> dict[str, Any]:
    owner = "steelyard" if name == state.name else "upstream"
    return {"id": name, "object": "model", "created": state.created, "owned_by": owner}


async def healthz(_: web.Request) -> web.Response:
    """The process answers; this route says nothing else, as it is open to all."""
    return web.json_response({"status": "ok"})


async def readyz(request: web.Request) -> web.Response:
    """Whether requests can be answered: a vote was tried, and an upstream was probed; of several one is enough.

    An upstream that has asked for more time than it is given refuses every request until it is tried again.
    """
    state = request.app[STATE]
    if state.admission.closed:
        raise ApiError(503, "this server is being stopped", code="draining")
    await asyncio.gather(*(source.probed() for source in state.sources))
    if state.warming:
        await asyncio.wait({state.warming})
    found = {source.name or source.model: _found(source) for source in state.sources}
    ready = any(source.abilities and not source.paused for source in state.sources)
    if not ready:
        paused = any(source.abilities for source in state.sources)
        cause = "every upstream asked for a pause" if paused else "no upstream could be probed"
        request[FIELDS] |= {"error": "not_ready", "cause": cause}
    told = {"status": "ready" if ready else "not ready", "model": state.name, "upstreams": found}
    wait = min((source.pace.closed_for for source in state.sources if source.abilities), default=0.0)
    headers = {} if ready or not wait else {"Retry-After": str(math.ceil(wait))}
    return web.json_response(told, status=200 if ready else 503, headers=headers)


def _found(source: Any) -> dict[str, Any]:
    able = source.abilities
    if able is None:
        return {"problem": public(source.problem or "not probed yet")}
    most = source.most_choices.of(able.most)
    paused = {"paused_s": math.ceil(wait)} if (wait := source.pace.closed_for) else {}
    return {"n": most, "logprobs": able.logprobs, "seed": able.seed, "usage": able.usage} | paused


async def metrics(request: web.Request) -> web.Response:
    """What Prometheus reads."""
    return web.Response(text=request.app[STATE].metrics.text(), content_type="text/plain", charset="utf-8")
