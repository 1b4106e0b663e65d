"""Wraps every request: checks access, times it for the metrics and the log, and turns errors into OpenAI's objects."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Middleware

from steelyard.gateway.limits.access import Access
from steelyard.gateway.messages.access_log import FIELDS, log_error
from steelyard.gateway.messages.api_errors import ApiError
from steelyard.gateway.messages.replies import ClientDisconnectedError, random_id
from steelyard.gateway.server_state import CLIENT, OWNER, REQUEST_ID, STATE

LOG = logging.getLogger("steelyard.gateway")
LEFT = 499  # the client has left
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
SAFE = {"Server": "steelyard", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Refusal = Callable[[web.Request, ApiError], web.Response]


def envelope_middleware(access: Access, refused: Refusal) -> Middleware:
    """The outermost part of the server; `refused` makes the reply to a request that fails."""

    @web.middleware
    async def envelope(request: web.Request, handler: Handler) -> web.StreamResponse:
        request.app[STATE].in_flight.track()
        began = time.monotonic()
        client_id = request.headers.get("x-request-id", "")
        request[REQUEST_ID] = client_id if _ID.fullmatch(client_id) else new_id()
        fields: dict[str, Any] = {}
        request[FIELDS] = fields
        status = LEFT
        try:
            with getattr(request.protocol, "answering", nullcontext)():  # the connection expects no request head
                response = await _answered(request, handler, access, refused)
            status = response.status
            if not response.prepared:
                response.headers["openai-processing-ms"] = str(round(1000 * (time.monotonic() - began)))
            return response
        finally:
            route = getattr(request.match_info.route.resource, "canonical", "none")
            state, seconds = request.app[STATE], time.monotonic() - began
            state.metrics.duration.add(seconds, route=route, status=str(status))
            if state.access_log:
                state.access_log.write(route, status, seconds, request[REQUEST_ID], fields)

    return envelope


async def _answered(request: web.Request, handler: Handler, access: Access, refused: Refusal) -> web.StreamResponse:
    try:
        number = access.check(request)
        request[CLIENT], request[OWNER] = number or 0, access.owner(number)
        if number is not None:
            request[FIELDS]["key"] = number + 1
        return await handler(request)
    except ApiError as error:
        log_error(request, error)
        return refused(request, error)
    except web.HTTPException as error:
        other = _of_http(error, request)
        log_error(request, other)
        return other.response()
    except asyncio.CancelledError:
        raise
    except (ConnectionResetError, ClientDisconnectedError) as error:  # the client was disconnected
        reason = str(error)
    except Exception as error:  # noqa: BLE001 - a bug: its message may contain private data
        frames = "".join(traceback.format_tb(error.__traceback__))
        LOG.critical("request %s failed: %s\n%s", request[REQUEST_ID], type(error).__name__, frames)
        message = f"internal server error; see {request[REQUEST_ID]} in the server's log"
        defect = ApiError(500, message, code="defect", cause=f"internal error: {type(error).__name__}")
        log_error(request, defect)
        return defect.response()
    raise ConnectionResetError(reason)  # a new one: the frames of the first would keep the reply in memory


def _of_http(error: web.HTTPException, request: web.Request) -> ApiError:
    """An error of aiohttp as OpenAI's error object."""
    path = request.rel_url.raw_path[:100]
    if error.status == 404:
        return ApiError(404, f"no route {request.method} {path}", code="not_found")
    if error.status == 405:
        allowed = error.headers.get("Allow", "")
        return ApiError(405, f"{path} allows only {allowed}", code="method_not_allowed", headers={"Allow": allowed})
    if error.status == 413:
        return ApiError(413, "the body is too large", code="request_too_large")
    return ApiError(error.status, error.reason or "the request cannot be answered")


def new_id() -> str:
    return f"req_{random_id()}"


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add the request id and security headers to a reply, also to a stream, just before it starts."""
    response.headers["x-request-id"] = request.get(REQUEST_ID) or new_id()
    response.headers.update(SAFE)
