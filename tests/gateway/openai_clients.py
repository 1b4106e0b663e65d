"""The real openai client as tests use it; it is imported where it is needed, as that takes a second."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.gateways import KEY, Gateway


def openai_package() -> Any:
    """The package, which the extra `dev` installs."""
    return pytest.importorskip("openai")


def openai_client(running: Gateway, **settings: Any) -> Any:
    """A client of a gateway."""
    return openai_package().OpenAI(base_url=f"{running.url}/v1", **{"api_key": KEY, **settings})


def user(text: str) -> list[dict[str, str]]:
    """A conversation of one message."""
    return [{"role": "user", "content": text}]
