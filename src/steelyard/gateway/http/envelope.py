"""What every reply has: an id, its time in the metrics, and, where something is wrong, OpenAI's error object."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Middleware

from steelyard.gateway.http.page_route import refused
from steelyard.gateway.limits.access import Access
from steelyard.gateway.messages.access_log import FIELDS, log_error
from steelyard.gateway.messages.api_errors import ApiError
from steelyard.gateway.messages.event_stream import ClientLeftError
from steelyard.gateway.messages.random_ids import random_id
from steelyard.gateway.state import CLIENT, OWNER, REQUEST_ID, STATE

LOG = logging.getLogger("steelyard.gateway")
LEFT = 499  # the client has left
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
SAFE = {"Server": "steelyard", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def enveloped(access: Access) -> Middleware:
    """The outermost part of the server."""

    @web.middleware
    async def envelope(request: web.Request, handler: Handler) -> web.StreamResponse:
        request.app[STATE].under_way.note()
        began = time.monotonic()
        given = request.headers.get("x-request-id", "")
        request[REQUEST_ID] = given if _ID.fullmatch(given) else new_id()
        fields: dict[str, Any] = {}
        request[FIELDS] = fields
        status = LEFT
        try:
            with _connection(request):
                response = await _answered(request, handler, access)
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


def _connection(request: web.Request) -> AbstractContextManager[None]:
    """What knows that a request is under way."""
    answering: Callable[[], AbstractContextManager[None]] = getattr(request.protocol, "answering", nullcontext)
    return answering()


async def _answered(request: web.Request, handler: Handler, access: Access) -> web.StreamResponse:
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
    except (ConnectionResetError, ClientLeftError) as error:  # the client was disconnected
        reason = str(error)
    except Exception as error:  # noqa: BLE001 - a defect of ours: its words may hold what nobody should read
        where = "".join(traceback.format_tb(error.__traceback__))
        LOG.critical("request %s failed: %s\n%s", request[REQUEST_ID], type(error).__name__, where)
        message = f"internal server error; see {request[REQUEST_ID]} in the server's log"
        defect = ApiError(500, message, code="defect", cause=f"internal error: {type(error).__name__}")
        log_error(request, defect)
        return defect.response()
    raise ConnectionResetError(reason)  # a new one: the frames of the first would hold the reply for long


def _of_http(error: web.HTTPException, request: web.Request) -> ApiError:
    """What aiohttp refuses, in the shape that clients read."""
    path = request.rel_url.raw_path[:100]
    if error.status == 404:
        return ApiError(404, f"there is no route {request.method} {path} here", code="not_found")
    if error.status == 405:
        allowed = error.headers.get("Allow", "")
        return ApiError(405, f"{path} answers to {allowed} only", code="method_not_allowed", headers={"Allow": allowed})
    if error.status == 413:
        return ApiError(413, "the body is too long", code="request_too_large")
    return ApiError(error.status, error.reason or "the request cannot be answered")


def new_id() -> str:
    """A name for a request."""
    return f"req_{random_id()}"


async def named(request: web.Request, response: web.StreamResponse) -> None:
    """Name a reply, also one that is a stream, just before it begins."""
    response.headers["x-request-id"] = request.get(REQUEST_ID) or new_id()
    response.headers.update(SAFE)
