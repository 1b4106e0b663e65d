"""The server a verb asks, and what people see while the embedded LLM starts."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

from steelyard.cli import show

if TYPE_CHECKING:
    from steelyard.sampling.llm.address import Address

News = TypeVar("News")


@contextmanager
def opened(upstream: str, key_env: str) -> Iterator[Address]:
    """Yield the server to ask; the embedded LLM is started, said to be weak, and stopped when the block ends."""
    from steelyard.sampling.llm.embedded import LOCAL, MODEL, WEAK
    from steelyard.sampling.llm.upstreams import served

    if upstream != LOCAL:
        with served(upstream, key_env) as address:
            yield address
        return
    with ExitStack() as stack:
        with show.waiting(f"Starting the embedded LLM, {MODEL}") as waiting:
            address = stack.enter_context(served(upstream, key_env, waiting))
        print(f"The embedded LLM listens at {address.base}. {WEAK}", file=sys.stderr)
        yield address


class Shown(Generic[News]):
    """Shows how a job goes from the moment its server is there; `last` is what came last, None before anything did."""

    def __init__(self, begin: Callable[[], AbstractContextManager[Callable[[News], None]]]) -> None:
        self.last: News | None = None
        self._begin = begin
        self._show: Callable[[News], None] | None = None

    @contextmanager
    def serve(self, upstream: str, key_env: str) -> Iterator[Address]:
        """Open a server; with the first one, begin to show."""
        with opened(upstream, key_env) as address:
            if self._show:
                yield address
                return
            with self._begin() as self._show:
                yield address

    def progress(self, news: News) -> None:
        """Show what has come."""
        self.last = news
        if self._show:
            self._show(news)
