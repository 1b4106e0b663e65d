"""The server a run talks to: one that is there already, by its address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from steelyard.errors import SettingError
from steelyard.sampling.address import Address, read_address


def model_name(upstream: str, model: str | None) -> str:
    """The name of the model; a server has to be told."""
    if model is None:
        raise SettingError(f"name the model with --model; 'steelyard doctor --upstream {upstream}' lists what is there")
    return model


def check_upstream(upstream: str, key_env: str) -> None:
    """Say what is wrong with an address or its key before anything is made."""
    read_address(upstream, key_env)


@contextmanager
def served(upstream: str, key_env: str) -> Iterator[Address]:
    """Yield where the server is, for as long as the block needs it."""
    yield read_address(upstream, key_env)
