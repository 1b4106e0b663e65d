"""The server a verb asks: an address, or the embedded LLM, which is started for as long as the verb needs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli import show
from steelyard.errors import SettingError

if TYPE_CHECKING:
    from steelyard.sampling.address import Address

Upstream = Annotated[
    str,
    typer.Option(help="Address of an OpenAI-compatible server, or local: the embedded LLM.", show_default=False),
]
Model = Annotated[
    str | None, typer.Option(help="Name of the model there; the embedded LLM has its own.", show_default=False)
]
KeyEnv = Annotated[str, typer.Option(help="Environment variable that holds the key.")]


@contextmanager
def opened(upstream: str, model: str | None, key_env: str) -> Iterator[tuple[Address, str]]:
    """Yield the server to ask and the name of the model; the embedded LLM stops when the block ends."""
    from steelyard.sampling.address import Address, read_address
    from steelyard.sampling.local import LOCAL, MODEL, WEAK, serve_local

    if upstream != LOCAL:
        if not model:
            raise SettingError("a server may have many models: name one with --model")
        yield read_address(upstream, key_env), model
        return
    if model not in (None, MODEL):
        raise SettingError(f"the embedded LLM is {MODEL}, not {model!r}: leave --model away")
    what = f"Starting the embedded LLM, {MODEL}"
    with show.waiting(what) as waiting, serve_local(waiting) as (url, name):
        print(f"{what}: it listens. {WEAK}", file=sys.stderr)
        yield Address(url), name
