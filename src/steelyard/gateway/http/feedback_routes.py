"""POST /v1/feedback: whether a verdict was correct. GET /v1/feedback: how the confidence has held so far."""

from __future__ import annotations

import asyncio

from aiohttp import web

from steelyard.gateway.feedback.feedback import Feedback
from steelyard.gateway.http.chat_route import read_body
from steelyard.gateway.messages.api_errors import ApiError, invalid
from steelyard.gateway.messages.json_text import json_bytes
from steelyard.gateway.state import CLIENT, OWNER, STATE

LONGEST_ANSWER = 10_000  # characters


async def give(request: web.Request) -> web.Response:
    """Keep a label."""
    state = request.app[STATE]
    feedback = _kept(state.feedback)
    async with state.admission.place(request[CLIENT]):
        given = (await read_body(request, state)).values
    name, correct, answer = given.get("id"), given.get("correct"), given.get("answer")
    if not isinstance(name, str):
        raise invalid("id", "id must be the id of a reply")
    if not isinstance(correct, bool | None):
        raise invalid("correct", "correct must be true or false")
    if answer is not None and not (isinstance(answer, str) and 0 < len(answer.strip()) <= LONGEST_ANSWER):
        raise invalid("answer", f"answer must be a text of 1 to {LONGEST_ANSWER:,} characters, the correct answer")
    if (correct is None) == (answer is None):
        raise invalid("correct", "send either correct (true or false) or answer (the correct answer) with the id")
    label = await feedback.label(name, request[OWNER], correct=correct, answer=answer)
    return web.Response(body=json_bytes(label), content_type="application/json")


async def held(request: web.Request) -> web.Response:
    """Say how the confidence has held, and whether the scores have moved."""
    feedback = _kept(request.app[STATE].feedback)
    return web.Response(body=json_bytes(await asyncio.to_thread(feedback.summary)), content_type="application/json")


def _kept(feedback: Feedback | None) -> Feedback:
    if feedback is None:
        raise ApiError(
            404, "this server keeps no feedback: its operator starts it with --feedback FOLDER", code="feedback_off"
        )
    return feedback
