"""A vote as a stream: heartbeats while samples arrive, then the winner in several pieces.

Nothing is sent before the first heartbeat, so that a quick failure has its own status code. A later failure is sent as
an event with the error, and the stream is cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any

from aiohttp import web

from steelyard.gateway.messages.access_log import log_error
from steelyard.gateway.messages.api_errors import ApiError, public
from steelyard.gateway.messages.chat_request import OURS, ChatRequest
from steelyard.gateway.messages.replies import DONE, PING, cut_stream, event, start_stream
from steelyard.gateway.server_state import REQUEST_ID, STATE
from steelyard.gateway.upstream.samples import Sample
from steelyard.gateway.vote.decision import Decision
from steelyard.gateway.vote.vote_reply import new_header
from steelyard.gateway.vote.vote_settings import VoteSettings
from steelyard.sampling.interrupts import cancel_and_wait
from steelyard.sampling.online.cascade_walk import BallotState

HEARTBEAT = 10.0  # seconds
PIECE = 48  # characters at least
PIECES = 64  # at most, of one text
FRAME = ("id", "created", "model", "system_fingerprint")  # fields of the reply that every chunk repeats
TEXT_FIELDS = ("content", "refusal", "reasoning_content", "reasoning")


async def stream_vote(request: web.Request, chat_request: ChatRequest, settings: VoteSettings) -> web.StreamResponse:
    """Answer a request that is voted on with a stream."""
    state = request.app[STATE]
    updates: asyncio.Queue[bytes] = asyncio.Queue()
    header = new_header()

    def watch(sample: Sample, ballot_state: BallotState | None) -> None:
        if settings.progress:
            updates.put_nowait(event(_progress(chat_request, header, sample, ballot_state)))

    def events(reply: dict[str, Any]) -> Iterator[bytes]:
        yield from map(event, chunks(reply, usage=chat_request.usage_chunk))
        yield event(DONE)

    work = state.voting.decide(chat_request, settings, request[REQUEST_ID], watch)
    return await stream_decision(request, work, events, lambda error: event(error.body), updates, header)


async def stream_decision(
    request: web.Request,
    work: Coroutine[Any, Any, Decision],
    events: Callable[[dict[str, Any]], Iterable[bytes]],
    error_event: Callable[[ApiError], bytes],
    updates: asyncio.Queue[bytes],
    header: dict[str, Any] | None = None,
) -> web.StreamResponse:
    """Send heartbeats and updates until the vote is decided, then the events of the reply."""
    deciding = asyncio.create_task(work)
    try:
        response = await _wait_with_heartbeats(request, deciding, updates)
        try:
            decision = await deciding
        except ApiError as error:
            if response is None:
                raise
            log_error(request, error)
            await response.write(error_event(error))
            cut_stream(request)
            return response
        response = response or await start_stream(request)
        for data in events(await request.app[STATE].make_reply(request, decision, header)):
            await response.write(data)
        await response.write_eof()
        return response
    finally:
        await cancel_and_wait(deciding)


async def _wait_with_heartbeats(
    request: web.Request, deciding: asyncio.Task[Decision], updates: asyncio.Queue[bytes]
) -> web.StreamResponse | None:
    """Send heartbeats and updates until the vote is decided; None if nothing was sent."""
    response: web.StreamResponse | None = None
    coming = asyncio.ensure_future(updates.get())
    try:
        while not deciding.done():
            await asyncio.wait({deciding, coming}, timeout=HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
            if deciding.done() and not coming.done():
                break
            response = response or await start_stream(request)
            if not coming.done():
                await response.write(PING)
                continue
            await response.write(coming.result())
            coming = asyncio.ensure_future(updates.get())
    finally:
        await cancel_and_wait(coming)
    while response and not updates.empty():
        await response.write(updates.get_nowait())
    return response


def chunks(reply: dict[str, Any], *, usage: bool) -> Iterator[dict[str, Any]]:
    """The chunks of a reply: one choice after the other, `steelyard` with the last finish_reason, then the usage."""
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
    """The pieces of one message; other fields come in the first, the log-probabilities with the first text."""
    message = choice["message"]
    other = {name: value for name, value in message.items() if name not in (*TEXT_FIELDS, "tool_calls")}
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        other["tool_calls"] = [dict(call, index=i) for i, call in enumerate(calls) if isinstance(call, dict)]
    logprobs = choice.get("logprobs")
    yield {**other, "role": message.get("role", "assistant"), "content": "" if message.get("content") else None}, None
    for name in TEXT_FIELDS:
        if text := text_of(message.get(name)):
            for i, piece in enumerate(pieces(text)):
                yield {name: piece}, logprobs if name == "content" and i == 0 else None


def text_of(content: Any) -> str:
    """The text of a message's content, also if it comes in parts; empty if it has none."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def pieces(text: str) -> Iterator[str]:
    """Cut a text into a few pieces."""
    size = max(PIECE, -(-len(text) // PIECES))
    for at in range(0, len(text), size):
        yield text[at : at + size]


def _progress(
    chat_request: ChatRequest, header: dict[str, Any], sample: Sample, ballot_state: BallotState | None
) -> dict[str, Any]:
    """A chunk without choices that reports a sample, if the client asked for progress."""
    progress: dict[str, Any] = {"sample": sample.number, "text": sample.choice.text if sample.choice else None}
    if sample.source:
        progress["source"] = sample.source
    if sample.error:
        progress["error"] = public(sample.error.reason)
    if ballot_state:
        progress["state"] = {
            "answer": ballot_state.verdict, "confidence": ballot_state.confidence, "share": ballot_state.share,
            "samples": ballot_state.samples, "stop": ballot_state.stop, "why": ballot_state.why,
        }  # fmt: skip
    usage: dict[str, Any] = {"usage": None} if chat_request.usage_chunk else {}
    frame = {**header, "object": "chat.completion.chunk", "model": chat_request.model, "choices": []}
    return frame | usage | {OURS: progress}
