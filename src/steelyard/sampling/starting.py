"""The server of a job, opened so that other work of the event loop goes on while the embedded LLM starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.embedded import LOCAL
from steelyard.sampling.llm.upstream import Serve


@asynccontextmanager
async def started(serve: Serve, upstream: str, key_env: str) -> AsyncIterator[Address]:
    """Yield where the server is. The embedded LLM starts in a thread, as it takes seconds.

    A job that is cancelled meanwhile waits until it has started, which cannot be broken off, and stops it.
    """
    with ExitStack() as stack:
        server = serve(upstream, key_env)
        if upstream != LOCAL:
            yield stack.enter_context(server)
            return
        starting = asyncio.get_running_loop().run_in_executor(None, stack.enter_context, server)
        cancelled: asyncio.CancelledError | None = None
        while not starting.done():
            try:
                await asyncio.wait({starting})
            except asyncio.CancelledError as error:
                cancelled = error
        address = starting.result()
        if cancelled:
            raise cancelled
        yield address
