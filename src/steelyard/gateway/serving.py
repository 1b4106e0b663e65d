"""The server from its start to its end: upstreams opened, the port taken, requests drained when it is stopped."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from aiohttp import web

from steelyard.foundation.errors import SettingError
from steelyard.foundation.plain_loops import choose_plain_loops
from steelyard.gateway.application import application
from steelyard.gateway.configuration import Configuration
from steelyard.gateway.feedback.feedback import Feedback
from steelyard.gateway.http.connection import Connection
from steelyard.gateway.limits.access import Access
from steelyard.gateway.limits.collecting import settle
from steelyard.gateway.limits.draining import CLOSING
from steelyard.gateway.limits.head_deadlines import HeadDeadlines
from steelyard.gateway.limits.open_files import allow_more_files
from steelyard.gateway.messages.access_log import AccessLog
from steelyard.gateway.messages.secrets_filter import Secrets
from steelyard.gateway.state import State
from steelyard.gateway.upstream.source import OF_EMBEDDED, PATIENCE, Source
from steelyard.gateway.vote.scoring import OwnLogprob, Scorer
from steelyard.gateway.vote.verifier import TRIES
from steelyard.gateway.vote.voting import Voter
from steelyard.runs.feedback_folder import FeedbackSettings
from steelyard.sampling.ask.ask import unplanned
from steelyard.sampling.interrupts import first_signal
from steelyard.sampling.llm.address import Address, read_key
from steelyard.sampling.llm.client import Client
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.named_upstreams import Upstream
from steelyard.sampling.llm.prices import VERIFIER
from steelyard.sampling.llm.upstream import Serve, served
from steelyard.sampling.starting import started

BACKLOG = 1024  # connections that wait to be taken
AT_ONCE = 4  # of those, how many asyncio takes in one step, in which nothing else is done
LOGGED = "%a %s, %b bytes in %D us"  # no path: there may be a key behind its question mark
QUIET = logging.getLogger("steelyard.gateway.access")  # says nothing unless somebody sets it to INFO


async def serve_forever(
    configuration: Configuration, tell: Callable[[str], None] = lambda _: None, serve: Serve = served
) -> int:
    """Serve until SIGTERM or SIGINT; return the number of the signal. `tell` is given the address.

    This process is a server's own: its loops need not be compiled, and its garbage is looked for as suits a server.
    """
    choose_plain_loops()
    allow_more_files()
    async with serving(configuration, serve) as address:
        settle()
        stopped = asyncio.ensure_future(first_signal())
        await asyncio.sleep(0)  # it listens for signals before anybody knows the address
        tell(address)
        return await stopped


@asynccontextmanager
async def serving(configuration: Configuration, serve: Serve = served) -> AsyncIterator[str]:
    """Serve while the block runs; yield the address. Requests that are under way have time to end."""
    upstreams = configuration.upstreams()
    method, score, cascade = configuration.voter(upstreams)
    async with AsyncExitStack() as stack:
        sources, secrets = [], Secrets(*_verifier_keys(configuration))
        for each in upstreams:
            address = await stack.enter_async_context(started(serve, each.url, each.key_env))
            secrets.add(address.key)
            client = await stack.enter_async_context(Client(address, try_timeout=configuration.caps.deadline))
            most = configuration.caps.in_flight * configuration.n
            patience = OF_EMBEDDED if each.url == LOCAL else PATIENCE
            source = Source(
                each.name, each.model, client, n=configuration.n, most=most, patience=patience, secrets=secrets
            )
            stack.push_async_callback(source.close)
            sources.append(source)
        scorer = _scorer(configuration, score, upstreams, sources[0].client.address, stack)
        voter = Voter(method, scorer, configuration.kind(method), cascade, score)
        state = State(
            configuration.name, voter, sources, configuration.n, configuration.caps,
            created=int(time.time()), prices=configuration.prices, keep_texts=configuration.keep_texts,
            keys=len(configuration.keys()) or 1, allow_fields=configuration.allow_fields,
        )  # fmt: skip
        stack.callback(state.counting.close)
        state.access_log = AccessLog(configuration.access_log, state.metrics.unlogged.add)
        stack.callback(state.access_log.close)
        if configuration.feedback:
            await _keep_feedback(state, configuration, upstreams[0].model, score, stack)
        state.finished.append(state.metrics.decided)
        state.warming = asyncio.create_task(state.counting.warm(method or unplanned(scored=True)))
        ready = [state.warming, *(asyncio.create_task(source.probed()) for source in sources)]
        stack.push_async_callback(_ended, ready)
        async with listening(state, configuration) as where:
            yield where


def _verifier_keys(configuration: Configuration) -> list[str | None]:
    """The key that a verifier's own server is sent."""
    verifier = configuration.verifier
    return [read_key(verifier.key_env)] if verifier and verifier.upstream not in (None, LOCAL) else []


def _scorer(
    configuration: Configuration, score: str, upstreams: tuple[Upstream, ...], address: Address, stack: AsyncExitStack
) -> Scorer:
    """The verifier, or what log-probabilities say; where tokens or cost are limited, every score is asked for once."""
    if configuration.verifier is None:
        return OwnLogprob()
    limited = configuration.caps.tokens is not None or configuration.caps.cost is not None
    priced = VERIFIER in configuration.prices
    return configuration.verifier.scorer(score, upstreams, address, stack, tries=1 if limited else TRIES, priced=priced)


async def _keep_feedback(
    state: State, configuration: Configuration, model: str, score: str, stack: AsyncExitStack
) -> None:
    """Keep every request that is voted on in the operator's folder, for labels to come."""
    method = state.voter.method
    seen = tuple(method.fitted_on_.reference_scores or ()) if method and method.fitted_on_ else ()
    kept = Feedback(
        state.counting, state.metrics, model=model, texts=configuration.keep_texts, reference=seen, keys=state.keys
    )
    kept.open(configuration.feedback, FeedbackSettings(score, state.voter.answers), configuration.caps.feedback)
    stack.push_async_callback(kept.close)
    state.feedback = kept
    state.finished.append(kept.decided)


async def _ended(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def listening(state: State, configuration: Configuration) -> AsyncIterator[str]:
    """Take the port, and at the end let no request in and wait for those that are there."""
    host, loop = configuration.host, asyncio.get_running_loop()
    app = application(state, Access(configuration.keys(), host, configuration.allow_hosts))
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=CLOSING)
    await runner.setup()
    made = runner.server
    if made is None:
        raise AssertionError("setup has made it")
    server: asyncio.Server | None = None
    heads = HeadDeadlines(configuration.caps.head)
    try:
        try:
            server = await loop.create_server(
                lambda: Connection(
                    made,
                    loop=loop,
                    access_log=QUIET,
                    access_log_format=LOGGED,
                    auto_decompress=False,
                    heads=heads,
                ),
                host,
                configuration.port,
                backlog=AT_ONCE,
            )
        except OSError as error:
            raise SettingError(
                f"cannot listen at {host}:{configuration.port}: {error.strerror or error}; choose another --port, or "
                "end what listens there"
            ) from None
        for each in server.sockets:
            with socket.socket(fileno=os.dup(each.fileno())) as same:
                same.listen(BACKLOG)
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{server.sockets[0].getsockname()[1]}"
    finally:
        state.admission.closed = True
        if server:
            server.close()
        await state.under_way.end(configuration.caps.drain)
        await runner.cleanup()


def exit_code(number: int) -> int:
    """The exit code after a signal: a service manager's SIGTERM is the ordinary end."""
    return 0 if number == signal.SIGTERM else 130
