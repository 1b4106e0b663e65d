"""Is the verifier there: known, its packages installed, its weights here, its server answering?"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from steelyard.cli.diagnosis.finding import (
    BAD,
    GOOD,
    NOTE,
    Finding,
)
from steelyard.foundation.errors import SteelyardError
from steelyard.sampling.llm.address import Address
from steelyard.sampling.verifiers import find_verifier
from steelyard.sampling.verifiers.protocol import ChatProtocol, Protocol, RecordedProtocol, TokenProtocol
from steelyard.sampling.verifiers.runners.where import check_place, connect


def runs_here(name: str | None, at: str | None) -> bool:
    """Whether a verifier would run in this process, and so needs torch."""
    return name is not None and at is None and isinstance(find_verifier(name)[0], TokenProtocol)


async def look(name: str, model: str | None, address: Address | None) -> Finding:
    """What is found about a verifier; `address` is the server it is to run on, `model` its name there or a folder."""
    protocol, verifier = find_verifier(name)
    wanted = model or verifier.model
    if isinstance(protocol, RecordedProtocol):
        return Finding("verifier", GOOD, f"{name} reads what generate recorded; it needs a server with logprobs")
    if address is None:
        return _chat_without_server(name) if isinstance(protocol, ChatProtocol) else _weights(name, wanted)
    return await _served(name, protocol, wanted, address)


def _chat_without_server(name: str) -> Finding:
    return Finding(
        "verifier", BAD, f"{name} asks a chat server, and none was named", "add --verifier-upstream http://HOST:PORT/v1"
    )


async def _served(name: str, protocol: Protocol, model: str, address: Address) -> Finding:
    try:
        check_place(name, protocol, at=True, local=False)
        runner = await connect(protocol, model, address)
        await runner.close()
    except SteelyardError as error:
        return Finding("verifier", BAD, str(error), "'steelyard score' without anything lists what can run where")
    return Finding("verifier", GOOD, f"{name} answers at {address.base}")


def _weights(name: str, model: str) -> Finding:
    """Whether the weights are on this machine; nothing is downloaded to find out."""
    if Path(model).is_dir():
        return Finding("verifier", GOOD, f"{name}: weights in {model}")
    if find_spec("huggingface_hub") is None:
        return Finding("verifier", BAD, f"{name}: its packages are not installed", "pip install 'steelyard[prm]'")
    from huggingface_hub import try_to_load_from_cache

    if isinstance(try_to_load_from_cache(model, "config.json"), str):
        return Finding("verifier", GOOD, f"{name}: {model} is on this machine")
    fix = "the first 'steelyard score' downloads it; without a network copy it here and give its folder by --model"
    return Finding("verifier", NOTE, f"{name}: {model} is not on this machine yet", fix)
