"""The span of every request for a vote or a model, where spans are recorded (sampling/telemetry/)."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Middleware

from steelyard.gateway.messages.access_log import FIELDS
from steelyard.gateway.messages.api_errors import ApiError
from steelyard.gateway.messages.chat_request import ChatRequest
from steelyard.gateway.messages.replies import ClientDisconnectedError
from steelyard.gateway.vote.decision import Decision
from steelyard.sampling.telemetry.vote_span import Recorder, VoteSpan

RESPONSES = "/v1/responses"
ROUTES = ("/v1/chat/completions", RESPONSES, "/page/ask")
SPAN = web.RequestKey("span", VoteSpan)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def tracing_middleware(recorder: Recorder) -> Middleware:
    """Records a span per request, as a part of the client's trace if its headers name one."""

    @web.middleware
    async def trace(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path not in ROUTES:
            return await handler(request)
        with recorder.vote(server=True, headers=request.headers) as span:
            request[SPAN] = span
            try:
                response = await handler(request)
            except (ApiError, web.HTTPException) as error:
                span.add_error(getattr(error, "code", None) or str(error.status), ours=error.status >= 500)
                raise
            except (ConnectionResetError, ClientDisconnectedError):
                span.add_error(CancelledError())
                raise
            except BaseException as error:
                span.add_error(error)
                raise
            if code := request[FIELDS].get("error"):  # of a stream that had begun
                span.add_error(code)
            return response

    return trace


def trace_request(request: web.Request, chat_request: ChatRequest) -> None:
    """Add the model and the parameters of a request, once the model is known to exist."""
    if span := request.get(SPAN):
        choices = chat_request.returned_choices
        parameters: dict[str, float | None] = {
            "choice.count": choices if choices != 1 else None, "max_tokens": chat_request.max_tokens,
            "seed": chat_request.seed, "stream": chat_request.stream or None, "temperature": chat_request.temperature,
        }  # fmt: skip
        span.add_request(chat_request.model, chat_request.messages, **parameters)


def trace_reply(request: web.Request, reply: dict[str, Any], decision: Decision, *, voted: bool) -> None:
    """Add a reply and, if there was a vote, its result."""
    if not (span := request.get(SPAN)):
        return
    name: str = reply["id"]
    if request.path == RESPONSES:
        name = "resp_" + name.removeprefix("chatcmpl-")  # as the client gets it
    span.add_reply(name, [(choice["message"], choice["finish_reason"]) for choice in reply["choices"]])
    if voted:
        outcome = decision.outcome
        span.add_result(
            None if decision.abstained else outcome.answer, outcome.confidence, name, method=decision.voted_by,
            share=outcome.share, samples=len(decision.good),
        )  # fmt: skip
