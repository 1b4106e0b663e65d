"""The server a verb asks, and what people see while the embedded LLM starts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from steelyard.cli import show

if TYPE_CHECKING:
    from steelyard.llm.address import Address


@contextmanager
def opened(upstream: str, key_env: str) -> Iterator[Address]:
    """Yield the server to ask; the embedded LLM is started, said to be weak, and stopped when the block ends."""
    from steelyard.llm.embedded import LOCAL, MODEL, WEAK
    from steelyard.llm.upstream import served

    if upstream != LOCAL:
        with served(upstream, key_env) as address:
            yield address
        return
    with ExitStack() as stack:
        with show.waiting(f"Starting the embedded LLM, {MODEL}") as waiting:
            address = stack.enter_context(served(upstream, key_env, waiting))
        print(f"The embedded LLM listens at {address.base}. {WEAK}", file=sys.stderr)
        yield address
