"""GET /: the page."""

from __future__ import annotations

from aiohttp import web

from steelyard.gateway.state import STATE

CSP = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'"


async def page(request: web.Request) -> web.Response:
    """Say what is here."""
    text = f"Steelyard serves the model {request.app[STATE].name} at /v1/chat/completions.\n"
    return web.Response(text=text, content_type="text/plain", headers={"Content-Security-Policy": CSP})
