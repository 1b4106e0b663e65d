"""What comes next is prepared in a thread while what was prepared before is used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import TypeVar

Raw = TypeVar("Raw")
Ready = TypeVar("Ready")


async def ahead(raw: Iterator[Raw], prepare: Callable[[Raw], Ready]) -> AsyncGenerator[Ready, None]:
    """Yield everything prepared, in its order; `raw` is taken from in the thread of the caller, one ahead."""

    def begin() -> asyncio.Task[Ready] | None:
        for each in raw:
            return asyncio.create_task(asyncio.to_thread(prepare, each))
        return None

    under_way = begin()
    try:
        while under_way is not None:
            ready = await under_way
            under_way = begin()
            yield ready
    finally:
        if under_way is not None:
            under_way.cancel()
