"""`steelyard serve` runs on uvloop if it is installed, and otherwise on asyncio's own loop."""

from __future__ import annotations

import asyncio
import sys

import pytest
import uvloop

from steelyard.foundation.cores import run_in_loop


async def _loop() -> type[asyncio.AbstractEventLoop]:
    return type(asyncio.get_running_loop())


def test_uvloop_is_used_where_it_is_installed() -> None:
    assert run_in_loop(_loop()) is uvloop.Loop


def test_without_uvloop_the_loop_is_that_of_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert issubclass(run_in_loop(_loop()), asyncio.BaseEventLoop)
