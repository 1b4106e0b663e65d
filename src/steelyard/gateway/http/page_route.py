"""GET /: the page, one document with its style and its script in it, the same bytes on every server.

A browser has no key to send when it opens an address, nor for the files of a page. So whoever comes without the key is
refused as everywhere, but a browser is refused with the page itself, which asks for the key and holds nothing else. Its
policy lets this one script and this one sheet run, by their hashes, and nothing be loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import NamedTuple

from aiohttp import web

from steelyard.foundation import look
from steelyard.gateway.messages.api_errors import ApiError

FILES = Path(__file__).parents[1] / "page"
SCRIPTS = ("server.js", "answers.js", "ask.js", "held.js", "requests.js", "code.js", "start.js")


class Document(NamedTuple):
    """The page and the policy that it is sent with."""

    body: bytes
    policy: str


@cache
def document() -> Document:
    """Put the page together."""
    style, script = look.style(FILES / "gateway.css"), look.script(*(FILES / name for name in SCRIPTS))
    html = Template((FILES / "gateway.html").read_text(encoding="utf-8")).substitute(style=style, script=script)
    policy = (
        f"default-src 'none'; script-src {look.allowed(script)}; style-src {look.allowed(style)}; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return Document(html.encode(), policy)


async def page(_: web.Request) -> web.Response:
    """Send the page."""
    return _response(200)


def refused(request: web.Request, error: ApiError) -> web.Response:
    """The reply to a request that failed: for a browser without the key it is the page, which asks for it."""
    opening = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("Accept", "")
    if error.status == 401 and request.rel_url.raw_path == "/" and opening:
        return _response(401, error.headers)
    return error.response()


def _response(status: int, more: Mapping[str, str] | None = None) -> web.Response:
    found = document()
    headers = {"Content-Security-Policy": found.policy, "Cache-Control": "no-store", **(more or {})}
    return web.Response(body=found.body, status=status, content_type="text/html", charset="utf-8", headers=headers)
