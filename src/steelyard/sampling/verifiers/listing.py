"""The verifiers as a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.sampling.verifiers.protocol import ChatProtocol, Protocol, TokenProtocol


def rows(protocols: Sequence[Protocol]) -> list[tuple[str, str, str, str]]:
    """Name, model, where it runs, how responses are split; one row per verifier."""
    return [
        (verifier.name, verifier.model or "the LLM itself", _places(protocol), verifier.split)
        for protocol in protocols
        for verifier in protocol.verifiers
    ]


def _places(protocol: Protocol) -> str:
    if isinstance(protocol, TokenProtocol):
        return "--local, --upstream vLLM" if protocol.served else "--local"
    return "--upstream any server" if isinstance(protocol, ChatProtocol) else "nowhere"


def page_table(protocols: Sequence[Protocol]) -> str:
    """The table of docs/verifiers.md."""
    said = {verifier.name: protocol for protocol in protocols for verifier in protocol.verifiers}
    lines = []
    for name, model, places, split in rows(protocols):
        protocol = said[name]
        size = f"; context {protocol.context:,}" if isinstance(protocol, TokenProtocol) else ""
        lines.append(f"| `{name}` | {model} | {places} | {split} | {protocol.what}{size} |")
    return "\n".join(lines)


def served_table(protocols: Sequence[Protocol]) -> str:
    """The table of docs/vllm.md."""
    return "\n".join(
        f"| {', '.join(f'`{verifier.name}`' for verifier in protocol.verifiers)} | `{protocol.served}` |"
        for protocol in protocols
        if isinstance(protocol, TokenProtocol) and protocol.served
    )
