"""Chooses where a verifier runs: in this process, on a vLLM server, on a chat server, or from the run's records."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from steelyard.foundation.errors import SettingError
from steelyard.sampling.llm.address import Address
from steelyard.sampling.llm.pace import Pace
from steelyard.sampling.verifiers.protocol import (
    ChatProtocol,
    EmbeddingProtocol,
    MeaningProtocol,
    PairProtocol,
    Protocol,
    RecordedProtocol,
    TokenProtocol,
)
from steelyard.sampling.verifiers.runners.many_requests import TRIES
from steelyard.sampling.verifiers.scored_items import Item, Results, Runner, checked
from steelyard.sampling.verifiers.tokens import Tokens, model_folder


def check_place(name: str, protocol: Protocol, *, at: bool, local: bool) -> None:
    """Refuse to run a verifier where it cannot, before anything is loaded."""
    if at and local:
        raise SettingError("--upstream and --local cannot be combined: give one of them")
    if isinstance(protocol, RecordedProtocol) and (at or local):
        raise SettingError(f"{name} reads what the run recorded and sends no request: omit --upstream and --local")
    if isinstance(protocol, ChatProtocol) and not at:
        raise SettingError(f"{name} needs a chat server: name it with --upstream http://HOST:PORT/v1 or local")
    if isinstance(protocol, EmbeddingProtocol) and not at:
        raise SettingError(
            f"{name} needs a server with an embedding model: name it with --upstream http://HOST:PORT/v1"
        )
    if isinstance(protocol, TokenProtocol):
        if not (at or local):
            raise SettingError(f"choose where {name} runs: --local for this machine, --upstream URL for a vLLM server")
        if at and not protocol.served:
            raise SettingError(f"vLLM cannot serve {name}: run it with --local")


def check_one_at_a_time(name: str, protocol: Protocol, command: str) -> None:
    """Refuse a verifier that gives no score to a response by itself: one that compares responses, or embeds them."""
    if isinstance(protocol, EmbeddingProtocol):
        raise SettingError(
            f"{name} gives vectors, not scores, and '{command}' weighs by scores: use 'steelyard generate', "
            f"'steelyard score --verifier {name}' and 'steelyard vote --answers free:cosine:{name}'"
        )
    if isinstance(protocol, MeaningProtocol):
        instead = "; or --verifier embeddings" if command == "serve" else ""
        raise SettingError(
            f"{name} compares all responses of a question, and '{command}' weighs by scores: use 'steelyard generate', "
            f"'steelyard score --verifier {name}' and 'steelyard vote --answers free:judged:{name}'{instead}"
        )
    if isinstance(protocol, PairProtocol):
        raise SettingError(
            f"{name} compares all responses of a question, and '{command}' scores one at a time: use --verifier judge, "
            f"or 'steelyard generate' and 'steelyard score --verifier {name}'"
        )


def vocabulary(model: str) -> Tokens:
    """Load the tokenizer of a model, without a cache; a large one takes two seconds."""
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
    """Load a verifier, or connect to it. `address` None is this process, and `tries` are those of a request.

    `timeout` is that of a try; UNTIMED if the caller ends a score itself. `pace` is that of all requests to a server,
    the probes included. `read` loads the tokenizer of a model.
    """
    if isinstance(protocol, RecordedProtocol):
        from steelyard.sampling.verifiers.runners.where import Recorded

        return Recorded(protocol)
    if isinstance(protocol, ChatProtocol):
        from steelyard.sampling.verifiers.runners.chat_server import ChatServer

        if address is None:
            raise AssertionError("check_place requires an address")
        return await ChatServer.connect(protocol, address, model, tries, timeout, pace)
    if isinstance(protocol, EmbeddingProtocol):
        from steelyard.sampling.verifiers.runners.embedding_server import EmbeddingServer

        if address is None:
            raise AssertionError("check_place requires an address")
        return await EmbeddingServer.connect(protocol, address, model, tries, timeout, pace)
    if address is None:
        from steelyard.sampling.verifiers.runners.local import Local

        return await asyncio.to_thread(Local, protocol, model, context=context)
    from steelyard.sampling.verifiers.runners.vllm import Served

    tokens = await asyncio.to_thread(read, model)
    return await Served.connect(
        protocol, tokens, address, model=model, context=context, tries=tries, timeout=timeout, pace=pace
    )


class Recorded:
    """Scores samples by what the run recorded; it sends no request."""

    def __init__(self, protocol: RecordedProtocol) -> None:
        self.protocol = protocol
        self.detected: dict[str, Any] = {"where": "recorded"}

    async def score(self, items: Iterator[Item]) -> Results:
        """Read each sample."""
        for item in items:
            scores = self.protocol.read(item.sample)
            yield item, self.protocol.missing if scores is None else checked(scores, truncated=False)

    async def close(self) -> None:
        """Nothing to close."""
