"""The verifiers as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.verifiers.protocol import ChatProtocol, Protocol, TokenProtocol


def rows(protocols: Sequence[Protocol]) -> list[tuple[str, str, str, str]]:
    """Name, model, where it runs, how responses are split; one row a verifier."""
    return [
        (verifier.name, verifier.model or "the LLM itself", _places(protocol), verifier.split)
        for protocol in protocols
        for verifier in protocol.verifiers
    ]


def _places(protocol: Protocol) -> str:
    if isinstance(protocol, TokenProtocol):
        return "--local, --at vLLM" if protocol.served else "--local"
    return "--at any server" if isinstance(protocol, ChatProtocol) else "nowhere"
