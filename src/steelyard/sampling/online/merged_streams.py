"""Several streams at once as one: what comes first is given first, and whoever stops taking ends them all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TypeVar

Item = TypeVar("Item")


async def merged(streams: Sequence[AsyncGenerator[Item]]) -> AsyncGenerator[Item]:
    """Yield what all of them yield, as it comes; an error of one is raised when the others have ended."""
    if len(streams) == 1:
        async with aclosing(streams[0]) as only:
            async for item in only:
                yield item
        return
    came: asyncio.Queue[tuple[Item] | None] = asyncio.Queue()

    async def pass_on(stream: AsyncGenerator[Item]) -> None:
        try:
            async with aclosing(stream):
                async for item in stream:
                    came.put_nowait((item,))
        finally:
            came.put_nowait(None)

    tasks = [asyncio.create_task(pass_on(stream)) for stream in streams]
    try:
        at_work = len(tasks)
        while at_work:
            found = await came.get()
            if found is None:
                at_work -= 1
            else:
                yield found[0]
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
