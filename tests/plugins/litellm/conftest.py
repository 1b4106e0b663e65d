"""LiteLLM as the tests use it: it fetches nothing, and says nothing."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable, Iterator
from typing import Any

os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}  # before it is imported

import litellm
import pytest

from steelyard.plugins.litellm_provider import Steelyard
from tests.upstreams import FaultUpstream

KEY = "sk-canary-of-litellm-51"
Complete = Callable[..., Any]


@pytest.fixture(scope="session", autouse=True)
def closed_loops() -> Iterator[None]:
    """Close a loop that LiteLLM leaves: its worker for logging waits in one, and forgets it for the next."""
    yield
    for loop in [item for item in gc.get_objects() if isinstance(item, asyncio.AbstractEventLoop)]:
        if not loop.is_running():
            loop.close()


@pytest.fixture(autouse=True)
def quiet_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(litellm, "suppress_debug_info", True)
    monkeypatch.setattr(litellm, "custom_provider_map", [])


@pytest.fixture
def settings(upstream: FaultUpstream) -> Callable[..., dict[str, Any]]:
    """The settings of an upstream for one of its models."""
    return lambda model, **more: {"model": f"openai/{model}", "api_base": upstream.url, "api_key": KEY, **more}


@pytest.fixture
def complete(settings: Callable[..., dict[str, Any]]) -> Complete:
    """Ask the vote of an upstream, by its model or by its settings."""

    def ask(upstream: Any, prompt: str = "1 + 1?", *, handler: dict[str, Any] | None = None, **request: Any) -> Any:
        chosen = settings(upstream) if isinstance(upstream, str) else upstream
        litellm.custom_provider_map = [
            {"provider": "steelyard", "custom_handler": Steelyard(chosen, **(handler or {}))}
        ]
        messages = [{"role": "user", "content": prompt}]
        return litellm.completion(**{"model": "steelyard/vote", "messages": messages, "seed": 0, **request})

    return ask
