"""The server a run talks to: one that is there already, by its address, or the embedded LLM, which is started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from steelyard.foundation.errors import SettingError
from steelyard.sampling.llm.address import Address, read_address
from steelyard.sampling.llm.embedded import (
    LOCAL,
    MODEL,
    SLOTS,
    find_weights,
    serve_local,
)

Serve = Callable[[str, str], AbstractContextManager[Address]]  # upstream and the name of the key's variable -> where


def model_name(upstream: str, model: str | None) -> str:
    """The name of the model; a server has to be told, the embedded LLM is only one.

    >>> model_name("local", None)
    'SmolLM2-135M-Instruct'
    """
    if upstream == LOCAL:
        if model not in (None, MODEL):
            raise SettingError(f"the embedded LLM is {MODEL}, not {model!r}: leave --model away")
        return MODEL
    if model is None:
        raise SettingError(f"name the model with --model; 'steelyard doctor --upstream {upstream}' lists what is there")
    return model


def check_upstream(upstream: str, key_env: str) -> None:
    """Say what is wrong with an address or its key, or what the embedded LLM lacks, before anything is made."""
    if upstream == LOCAL:
        find_weights()
    else:
        read_address(upstream, key_env)


def at_once(upstream: str, n: int, most: int) -> int:
    """How many requests for n samples may be under way: no more than keep the slots of the embedded LLM busy.

    Those beyond would only wait there, past their deadline, and be worked on after they were given up.

    >>> at_once("http://127.0.0.1:8000/v1", 32, 64), at_once("local", 32, 64), at_once("local", 1, 64)
    (64, 2, 9)
    """
    return min(most, 1 + -(-SLOTS // n)) if upstream == LOCAL else most


@contextmanager
def served(upstream: str, key_env: str, progress: Callable[[float], None] | None = None) -> Iterator[Address]:
    """Yield where the server is, for as long as the block needs it; the key is not for the embedded LLM.

    `progress` is told how many seconds the embedded LLM takes to start.
    """
    if upstream != LOCAL:
        yield read_address(upstream, key_env)
        return
    with serve_local(progress) as (url, _):
        yield Address(url)
