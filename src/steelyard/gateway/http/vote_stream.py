"""A vote as a stream: heartbeats while the samples come, then the winner in several pieces.

Until the first heartbeat nothing is sent, so that what fails quickly fails with its own status. What fails later is an
event with the error, and the stream is broken off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from aiohttp import web

from steelyard.gateway.messages.access_log import log_error
from steelyard.gateway.messages.api_errors import ApiError, public
from steelyard.gateway.messages.chat_request import OURS, ChatRequest
from steelyard.gateway.messages.event_stream import DONE, PING, begun, break_off, event
from steelyard.gateway.messages.samples import Sample
from steelyard.gateway.state import REQUEST_ID, STATE
from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.vote_reply import new_reply
from steelyard.gateway.vote.vote_settings import VoteSettings
from steelyard.sampling.online.standing import Standing

HEARTBEAT = 10.0  # seconds
PIECE = 48  # characters at least
PIECES = 64  # at most, of one text
FRAME = ("id", "created", "model", "system_fingerprint")  # what every chunk has of the whole reply
SPOKEN = ("content", "refusal", "reasoning_content", "reasoning")


async def stream_vote(request: web.Request, asked: ChatRequest, settings: VoteSettings) -> web.StreamResponse:
    """Answer a request that is voted on by a stream."""
    state = request.app[STATE]
    news: asyncio.Queue[bytes] = asyncio.Queue()
    named = new_reply()

    def watch(sample: Sample, standing: Standing | None) -> None:
        if settings.progress:
            news.put_nowait(event(_progress(asked, named, sample, standing)))

    deciding = asyncio.create_task(state.voting.decide(asked, settings, request[REQUEST_ID], watch))
    try:
        response = await while_waiting(request, deciding, news)
        try:
            decision = await deciding
        except ApiError as error:
            if response is None:
                raise
            log_error(request, error)
            await response.write(event(error.body))
            break_off(request)
            return response
        response = response or await begun(request)
        await _send(response, decision, request, named)
        return response
    finally:
        deciding.cancel()
        await asyncio.gather(deciding, return_exceptions=True)


async def while_waiting(
    request: web.Request, deciding: asyncio.Task[Decision], news: asyncio.Queue[bytes]
) -> web.StreamResponse | None:
    """Send heartbeats and news until it is decided; None if that took no heartbeat and there were no news."""
    response: web.StreamResponse | None = None
    coming = asyncio.ensure_future(news.get())
    try:
        while not deciding.done():
            await asyncio.wait({deciding, coming}, timeout=HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
            if deciding.done() and not coming.done():
                break
            response = response or await begun(request)
            if not coming.done():
                await response.write(PING)
                continue
            await response.write(coming.result())
            coming = asyncio.ensure_future(news.get())
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
    while response and not news.empty():
        await response.write(news.get_nowait())
    return response


async def _send(response: web.StreamResponse, decision: Decision, request: web.Request, named: dict[str, Any]) -> None:
    reply = request.app[STATE].replied(request, decision, named)
    await request.app[STATE].kept(reply)
    for chunk in chunks(reply, usage=decision.asked.usage_chunk):
        await response.write(event(chunk))
    await response.write(event(DONE))
    await response.write_eof()


def chunks(reply: dict[str, Any], *, usage: bool) -> Iterator[dict[str, Any]]:
    """The chunks of a whole reply: choice after choice, `steelyard` with the last finish, then the usage."""
    frame: dict[str, Any] = {name: reply[name] for name in FRAME if name in reply}
    frame |= {"object": "chat.completion.chunk"} | ({"usage": None} if usage else {})
    choices = reply["choices"]
    for k, choice in enumerate(choices):
        for delta, logprobs in _deltas(choice):
            yield frame | {"choices": [_part(choice, delta, logprobs, None)]}
        last = {OURS: reply[OURS]} if k == len(choices) - 1 else {}
        yield frame | {"choices": [_part(choice, {}, None, choice["finish_reason"])]} | last
    if usage:
        yield frame | {"choices": [], "usage": reply["usage"]}


def _part(choice: dict[str, Any], delta: dict[str, Any], logprobs: Any, finish: Any) -> dict[str, Any]:
    return {"index": choice["index"], "delta": delta, "logprobs": logprobs, "finish_reason": finish}


def _deltas(choice: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """The pieces of one message; what is no text comes in one of them, the log-probabilities with the first words."""
    message = choice["message"]
    other = {name: value for name, value in message.items() if name not in (*SPOKEN, "tool_calls")}
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        other["tool_calls"] = [dict(call, index=i) for i, call in enumerate(calls) if isinstance(call, dict)]
    logprobs = choice.get("logprobs")
    yield {**other, "role": message.get("role", "assistant"), "content": "" if message.get("content") else None}, None
    for name in SPOKEN:
        if text := spoken(message.get(name)):
            for i, piece in enumerate(pieces(text)):
                yield {name: piece}, logprobs if name == "content" and i == 0 else None


def spoken(content: Any) -> str:
    """What a message says; of a content in parts the text of these, of what is no text nothing."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def pieces(text: str) -> Iterator[str]:
    """A text in a few pieces."""
    size = max(PIECE, -(-len(text) // PIECES))
    for at in range(0, len(text), size):
        yield text[at : at + size]


def _progress(asked: ChatRequest, named: dict[str, Any], sample: Sample, standing: Standing | None) -> dict[str, Any]:
    """A chunk without choices that tells of a sample, for who asked for that."""
    told: dict[str, Any] = {"sample": sample.number, "text": sample.choice.text if sample.choice else None}
    if sample.source:
        told["source"] = sample.source
    if sample.error:
        told["error"] = public(sample.error.reason)
    if standing:
        told["standing"] = {
            "answer": standing.verdict, "confidence": standing.confidence, "share": standing.share,
            "samples": standing.samples, "stop": standing.stop, "why": standing.why,
        }  # fmt: skip
    usage: dict[str, Any] = {"usage": None} if asked.usage_chunk else {}
    frame = {**named, "object": "chat.completion.chunk", "model": asked.model, "choices": []}
    return frame | usage | {OURS: told}
