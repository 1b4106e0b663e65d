"""Where a verifier runs: in this process, on a vLLM server, on a chat server, or nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from steelyard.foundation.errors import SettingError
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.verifiers.protocol import ChatProtocol, Protocol, RecordedProtocol, TokenProtocol
from steelyard.sampling.verifiers.runners.many_requests import TRIES
from steelyard.sampling.verifiers.scored_items import Runner
from steelyard.sampling.verifiers.tokens import Tokens


def check_place(name: str, protocol: Protocol, *, at: bool, local: bool) -> None:
    """Refuse a place where a verifier cannot run, before anything is loaded."""
    if at and local:
        raise SettingError("--upstream and --local exclude each other: name one place")
    if isinstance(protocol, RecordedProtocol) and (at or local):
        raise SettingError(f"{name} reads what the run recorded and asks nobody: leave --upstream and --local away")
    if isinstance(protocol, ChatProtocol) and not at:
        raise SettingError(f"{name} asks a chat server: name it with --upstream http://HOST:PORT/v1 or local")
    if isinstance(protocol, TokenProtocol):
        if not (at or local):
            raise SettingError(f"say where {name} runs: --local for this machine, --upstream URL for a vLLM server")
        if at and not protocol.served:
            raise SettingError(f"vLLM cannot serve {name}: run it with --local")


def vocabulary(model: str) -> Tokens:
    """The tokenizer of a model, read anew: that takes two seconds for a large one."""
    from steelyard.sampling.verifiers.runners.model_folders import model_folder

    return Tokens.load(model_folder(model, weights=False))


async def connect(
    protocol: Protocol,
    model: str,
    address: Address | None,
    context: int | None = None,
    *,
    tries: int = TRIES,
    timeout: float | None = None,
    pace: Pace | None = None,
    read: Callable[[str], Tokens] = vocabulary,
) -> Runner:
    """The verifier, loaded or connected to. `address` None is this process, and `tries` are those of a request.

    `timeout` is that of a try; whoever ends a score himself says UNTIMED. `pace` is that of all requests to a server,
    also of the first ones, which find out what it can do. `read` gives the tokenizer of a model.
    """
    if isinstance(protocol, RecordedProtocol):
        from steelyard.sampling.verifiers.runners.recorded import Recorded

        return Recorded(protocol)
    if isinstance(protocol, ChatProtocol):
        from steelyard.sampling.verifiers.runners.chat_server import Asked

        if address is None:
            raise AssertionError("check_place asks for an address")
        return await Asked.connect(protocol, address, model, tries, timeout, pace)
    if address is None:
        from steelyard.sampling.verifiers.runners.local import Local

        return await asyncio.to_thread(Local, protocol, model, context=context)
    from steelyard.sampling.verifiers.runners.vllm import Served

    tokens = await asyncio.to_thread(read, model)
    return await Served.connect(
        protocol, tokens, address, model=model, context=context, tries=tries, timeout=timeout, pace=pace
    )
