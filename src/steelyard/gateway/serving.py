"""The server from start to stop: opens the upstreams, listens, and drains requests when it is stopped."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import os
import resource
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

from aiohttp import web

from steelyard.foundation.cores import choose_plain_loops
from steelyard.foundation.errors import SettingError
from steelyard.gateway.application import application
from steelyard.gateway.configuration import Configuration
from steelyard.gateway.feedback.feedback import Feedback
from steelyard.gateway.http.connection import Connection, HeadDeadlines
from steelyard.gateway.limits.access import Access
from steelyard.gateway.limits.admission import CLOSING
from steelyard.gateway.messages.access_log import AccessLog
from steelyard.gateway.messages.secrets_filter import Secrets
from steelyard.gateway.server_state import State
from steelyard.gateway.upstream.source import EMBEDDED_PATIENCE, PATIENCE, Source
from steelyard.gateway.vote.embedder import Embedder
from steelyard.gateway.vote.request_vote import Voter
from steelyard.gateway.vote.scoring import OwnLogprob, Scorer
from steelyard.gateway.vote.verifier_settings import TRIES
from steelyard.runs.feedback_settings import FeedbackSettings
from steelyard.sampling.ask.prepare import unplanned
from steelyard.sampling.interrupts import cancel_and_wait, first_signal
from steelyard.sampling.llm.address import Address, read_key
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.prices import VERIFIER
from steelyard.sampling.llm.upstreams import Serve, Upstream, served, started
from steelyard.sampling.telemetry.exporting import exporting
from steelyard.sampling.telemetry.vote_span import Recorder

BACKLOG = 1024  # connections that wait to be accepted
AT_ONCE = 4  # connections that asyncio accepts in one step, which blocks everything else
LOGGED = "%a %s, %b bytes in %D us"  # no path: its query string may contain a key
QUIET = logging.getLogger("steelyard.gateway.access")  # silent unless its level is set to INFO
NEW = 10_000  # objects between two collections
OLDER = 20  # collections of new objects per collection of older ones
TARGET = 10_240  # the maximum on macOS
M_MMAP_THRESHOLD = -3  # of malloc.h
LARGE = 2**20  # bytes


async def serve_forever(
    configuration: Configuration, tell: Callable[[str], None] = lambda _: None, serve: Serve = served
) -> int:
    """Serve until SIGTERM or SIGINT; return the number of the signal. `tell` gets the address.

    This process only serves: loops are not compiled, and garbage collection and memory are tuned for a server.
    """
    choose_plain_loops()
    raise_file_limit()
    return_freed_memory()
    with exporting() as recorder:
        async with serving(configuration, serve, recorder) as address:
            tune_garbage_collection()
            stopped = asyncio.ensure_future(first_signal())
            await asyncio.sleep(0)  # the signal handlers are installed before the address is known
            tell(address)
            return await stopped


def exit_code(number: int) -> int:
    """The exit code after a signal: SIGTERM, which service managers send, is a normal stop."""
    return 0 if number == signal.SIGTERM else 130


@asynccontextmanager
async def serving(
    configuration: Configuration, serve: Serve = served, recorder: Recorder | None = None
) -> AsyncIterator[str]:
    """Serve while the block runs; yield the address. Requests in flight have time to end. `recorder` records votes."""
    upstreams = configuration.upstreams()
    method, score, cascade = configuration.voter(upstreams)
    async with AsyncExitStack() as stack:
        sources, secrets = [], Secrets(*_verifier_keys(configuration))
        for spec in upstreams:
            address = await stack.enter_async_context(started(serve, spec.url, spec.key_env))
            secrets.add(address.key)
            client = await stack.enter_async_context(Client(address, try_timeout=configuration.caps.deadline))
            limit = configuration.caps.in_flight * configuration.n
            patience = EMBEDDED_PATIENCE if spec.url == LOCAL else PATIENCE
            source = Source(
                spec.name, spec.model, client, n=configuration.n, limit=limit, patience=patience, secrets=secrets
            )
            stack.push_async_callback(source.close)
            sources.append(source)
        scorer = _scorer(configuration, score, upstreams, sources[0].client.address, stack)
        embedder = _embedder(configuration, secrets, stack)
        voter = Voter(method, scorer, configuration.kind(method), cascade, score, embedder)
        state = State(
            configuration.name, voter, sources, configuration.n, configuration.caps,
            created=int(time.time()), prices=configuration.prices, keep_texts=configuration.keep_texts,
            keys=len(configuration.keys()) or 1, allow_fields=configuration.allow_fields,
        )  # fmt: skip
        stack.callback(state.counter.close)
        state.access_log = AccessLog(configuration.access_log, state.metrics.unlogged.add)
        stack.callback(state.access_log.close)
        if configuration.feedback:
            _open_feedback(state, configuration.feedback, configuration, upstreams[0].model, score, stack)
        state.listeners.append(state.metrics.on_decision)
        state.warming = asyncio.create_task(state.counter.warm(method or unplanned(scored=True)))
        probes = [asyncio.create_task(source.probed()) for source in sources]
        stack.push_async_callback(cancel_and_wait, state.warming, *probes)
        async with listening(state, configuration, recorder) as url:
            yield url


def _verifier_keys(configuration: Configuration) -> list[str | None]:
    """The key that a verifier's own server is sent."""
    verifier = configuration.verifier
    return [read_key(verifier.key_env)] if verifier and verifier.upstream not in (None, LOCAL) else []


def _scorer(
    configuration: Configuration, score: str, upstreams: tuple[Upstream, ...], address: Address, stack: AsyncExitStack
) -> Scorer:
    """The verifier, or the log-probabilities."""
    if configuration.verifier is None or configuration.verifier.embeds:
        return OwnLogprob()
    tries, priced = _verifier_tries(configuration), VERIFIER in configuration.prices
    return configuration.verifier.scorer(score, upstreams, address, stack, tries=tries, priced=priced)


def _embedder(configuration: Configuration, secrets: Secrets, stack: AsyncExitStack) -> Embedder | None:
    """The embedding server by which free text is compared, if the operator configured one."""
    if configuration.verifier is None or not configuration.verifier.embeds:
        return None
    tries, priced = _verifier_tries(configuration), VERIFIER in configuration.prices
    return configuration.verifier.embedder(stack, secrets, tries=tries, priced=priced)


def _verifier_tries(configuration: Configuration) -> int:
    """Tries per request to the verifier: if tokens or cost are limited, there are no retries."""
    limited = configuration.caps.tokens is not None or configuration.caps.cost is not None
    return 1 if limited else TRIES


def _open_feedback(
    state: State, folder: Path, configuration: Configuration, model: str, score: str, stack: AsyncExitStack
) -> None:
    """Store every request that is voted on in the operator's folder, so that it can be labelled."""
    method = state.voter.method
    seen = tuple(method.fitted_on_.reference_scores or ()) if method and method.fitted_on_ else ()
    feedback = Feedback(
        folder, FeedbackSettings(score, state.voter.answers), state.counter, state.metrics, model=model, reference=seen,
        texts=configuration.keep_texts, keys=state.keys, limit=configuration.caps.feedback,
    )  # fmt: skip
    stack.push_async_callback(feedback.close)
    state.feedback = feedback
    state.listeners.append(feedback.on_decision)


@asynccontextmanager
async def listening(state: State, configuration: Configuration, recorder: Recorder | None) -> AsyncIterator[str]:
    """Listen on the port; at the end, accept no requests and drain those in flight."""
    host, loop = configuration.host, asyncio.get_running_loop()
    app = application(state, Access(configuration.keys(), host, configuration.allow_hosts), recorder)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=CLOSING)
    await runner.setup()
    manager = runner.server
    if manager is None:
        raise AssertionError("setup has created the server")
    server: asyncio.Server | None = None
    heads = HeadDeadlines(configuration.caps.head)
    try:
        try:
            server = await loop.create_server(
                lambda: Connection(
                    manager, loop=loop, access_log=QUIET, access_log_format=LOGGED, auto_decompress=False, heads=heads
                ),
                host, configuration.port, backlog=AT_ONCE,
            )  # fmt: skip
        except OSError as error:
            raise SettingError(
                f"cannot listen on {host}:{configuration.port}: {error.strerror or error}; choose another --port, or "
                "stop the program that listens there"
            ) from None
        for listener in server.sockets:
            with socket.socket(fileno=os.dup(listener.fileno())) as duplicate:
                duplicate.listen(BACKLOG)
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{server.sockets[0].getsockname()[1]}"
    finally:
        state.admission.closed = True
        if server:
            server.close()
        await state.in_flight.drain(configuration.caps.drain)
        await runner.cleanup()


def tune_garbage_collection() -> None:
    """Exempt existing objects from garbage collection, and collect less often.

    Requests leave few reference cycles behind, and every collection delays all requests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW, OLDER, OLDER)


def return_freed_memory() -> None:
    """Make glibc return the memory of large bodies to the system as soon as they are freed.

    By default it keeps blocks of up to 32 MB for later use once one of their size was freed.
    """
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE)


def raise_file_limit() -> None:
    """Raise the soft limit of this process: the default of macOS, 256, is used up by 28 requests for 8 samples each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = TARGET if hard == resource.RLIM_INFINITY else min(TARGET, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with suppress(ValueError, OSError):  # the system may refuse; the gateway also works with few
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
