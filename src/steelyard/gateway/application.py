"""The application: its routes, and the handlers of those that need no module of their own."""

from __future__ import annotations

import asyncio
import math
from typing import Any

from aiohttp import web

from steelyard.gateway.feedback.feedback import Feedback
from steelyard.gateway.http.chat_route import chat, read_body
from steelyard.gateway.http.envelope import add_headers, envelope_middleware
from steelyard.gateway.http.responses_route import responses
from steelyard.gateway.limits.access import Access
from steelyard.gateway.messages.access_log import FIELDS
from steelyard.gateway.messages.api_errors import ApiError, invalid, public
from steelyard.gateway.messages.chat_request import unknown_model
from steelyard.gateway.messages.replies import UNREAD, UnreadReplies, json_bytes
from steelyard.gateway.page.page_routes import add_page, refused
from steelyard.gateway.server_state import CLIENT, OWNER, STATE, State
from steelyard.gateway.tracing import tracing_middleware
from steelyard.gateway.upstream.source import Source
from steelyard.sampling.telemetry.vote_span import Recorder

LONGEST_ANSWER = 10_000  # characters


def application(state: State, access: Access, recorder: Recorder | None = None) -> web.Application:
    """The application; every route except /healthz needs a key."""
    inner = [tracing_middleware(recorder)] if recorder else []
    app = web.Application(middlewares=[envelope_middleware(access, refused), *inner], client_max_size=state.caps.body)
    app[STATE], app[UNREAD] = state, UnreadReplies()
    app.on_response_prepare.append(add_headers)
    app.add_routes(
        [
            web.post("/v1/chat/completions", chat),
            web.post("/v1/responses", responses),
            web.post("/v1/feedback", label),
            web.get("/v1/feedback", feedback_summary),
            web.get("/v1/models", models),
            web.get("/v1/models/{id:.+}", model),
            web.get("/healthz", healthz),
            web.get("/readyz", readyz),
            web.get("/metrics", metrics),
        ]
    )
    add_page(app, state)
    return app


async def models(request: web.Request) -> web.Response:
    """List the models that a client may request."""
    state = request.app[STATE]
    return web.json_response({"object": "list", "data": [_model(state, name) for name in state.models]})


async def model(request: web.Request) -> web.Response:
    """Describe one model; its id may contain slashes."""
    state, name = request.app[STATE], request.match_info["id"]
    if name not in state.models:
        raise unknown_model(name, state.models)
    return web.json_response(_model(state, name))


def _model(state: State, name: str) -> dict[str, Any]:
    owner = "steelyard" if name == state.name else "upstream"
    return {"id": name, "object": "model", "created": state.created, "owned_by": owner}


async def healthz(_: web.Request) -> web.Response:
    """Report that the process is alive, and nothing else, as this route needs no key."""
    return web.json_response({"status": "ok"})


async def readyz(request: web.Request) -> web.Response:
    """Report whether requests can be answered: a trial vote has run, and an upstream was probed and is not paused."""
    state = request.app[STATE]
    if state.admission.closed:
        raise ApiError(503, "this server is shutting down", code="draining")
    await asyncio.gather(*(source.probed() for source in state.sources))
    if state.warming:
        await asyncio.wait({state.warming})
    upstreams = {source.name or source.model: _upstream_state(source) for source in state.sources}
    ready = any(source.abilities and not source.paused for source in state.sources)
    if not ready:
        paused = any(source.abilities for source in state.sources)
        cause = "every upstream asked for a pause" if paused else "no upstream could be probed"
        request[FIELDS] |= {"error": "not_ready", "cause": cause}
    status = {"status": "ready" if ready else "not ready", "model": state.name, "upstreams": upstreams}
    wait = min((source.pace.closed_for for source in state.sources if source.abilities), default=0.0)
    headers = {} if ready or not wait else {"Retry-After": str(math.ceil(wait))}
    return web.json_response(status, status=200 if ready else 503, headers=headers)


def _upstream_state(source: Source) -> dict[str, Any]:
    abilities = source.abilities
    if abilities is None:
        return {"problem": public(source.problem or "not probed yet")}
    choices = source.choice_limit.current(abilities.most)
    paused = {"paused_s": math.ceil(wait)} if (wait := source.pace.closed_for) else {}
    return {"n": choices, "logprobs": abilities.logprobs, "seed": abilities.seed, "usage": abilities.usage} | paused


async def metrics(request: web.Request) -> web.Response:
    return web.Response(text=request.app[STATE].metrics.text(), content_type="text/plain", charset="utf-8")


async def label(request: web.Request) -> web.Response:
    state = request.app[STATE]
    feedback = _enabled(state.feedback)
    async with state.admission.slot(request[CLIENT]):
        values = (await read_body(request, state)).values
    name, correct, answer = values.get("id"), values.get("correct"), values.get("answer")
    if not isinstance(name, str):
        raise invalid("id", "id must be the id of a reply")
    if not isinstance(correct, bool | None):
        raise invalid("correct", "correct must be true or false")
    if answer is not None and not (isinstance(answer, str) and 0 < len(answer.strip()) <= LONGEST_ANSWER):
        raise invalid("answer", f"answer must be the correct answer, a string of 1 to {LONGEST_ANSWER:,} characters")
    if (correct is None) == (answer is None):
        raise invalid("correct", "send either correct (true or false) or answer (the correct answer) with the id")
    result = await feedback.label(name, request[OWNER], correct=correct, answer=answer)
    return web.Response(body=json_bytes(result), content_type="application/json")


async def feedback_summary(request: web.Request) -> web.Response:
    """Report how well the confidence has held so far, and whether the scores have drifted."""
    feedback = _enabled(request.app[STATE].feedback)
    return web.Response(body=json_bytes(await asyncio.to_thread(feedback.summary)), content_type="application/json")


def _enabled(feedback: Feedback | None) -> Feedback:
    if feedback is None:
        raise ApiError(404, "feedback is off: the operator can turn it on with --feedback FOLDER", code="feedback_off")
    return feedback
