"""The routes of the server, and what stands around them."""

from __future__ import annotations

from aiohttp import web

from steelyard.gateway.http import feedback_routes, info_routes
from steelyard.gateway.http.chat_route import chat
from steelyard.gateway.http.envelope import enveloped, named
from steelyard.gateway.http.responses_route import responses
from steelyard.gateway.limits.access import Access
from steelyard.gateway.messages.plain_reply import UNREAD, UnreadReplies
from steelyard.gateway.page.page_state import add_page
from steelyard.gateway.state import STATE, State


def application(state: State, access: Access) -> web.Application:
    """The application: every route is behind the key but /healthz."""
    app = web.Application(middlewares=[enveloped(access)], client_max_size=state.caps.body)
    app[STATE], app[UNREAD] = state, UnreadReplies()
    app.on_response_prepare.append(named)
    app.add_routes(
        [
            web.post("/v1/chat/completions", chat),
            web.post("/v1/responses", responses),
            web.post("/v1/feedback", feedback_routes.give),
            web.get("/v1/feedback", feedback_routes.held),
            web.get("/v1/models", info_routes.models),
            web.get("/v1/models/{id:.+}", info_routes.model),
            web.get("/healthz", info_routes.healthz),
            web.get("/readyz", info_routes.readyz),
            web.get("/metrics", info_routes.metrics),
        ]
    )
    add_page(app, state)
    return app
