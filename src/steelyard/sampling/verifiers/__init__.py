"""Verifiers: protocols (their inputs and outputs) and runners (where they run). Nothing here weighs an answer.

To add a protocol, add a file with a `PROTOCOL` to `protocols/`, or an entry point of the group `steelyard.verifiers` in
another package; the command line and the checks of every protocol find it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.foundation.errors import SettingError, did_you_mean

if TYPE_CHECKING:
    from steelyard.foundation.registry import Registry
    from steelyard.sampling.verifiers.protocol import Protocol, Verifier


@cache
def registry() -> Registry[Protocol]:
    """All protocols by name."""
    from steelyard.foundation.registry import Registry
    from steelyard.sampling.verifiers.protocol import problem_of

    folder = Path(__file__).parent / "protocols"
    group = "steelyard.verifiers"
    return Registry(
        "protocol", f"{__name__}.protocols", folder, lambda module: module.PROTOCOL, group=group, check=problem_of
    )


@cache
def all_protocols() -> tuple[Protocol, ...]:
    """All protocols, in the order of their names."""
    return tuple(registry().get(name) for name in registry().names)


@cache
def verifier_names() -> tuple[str, ...]:
    """The short names of all verifiers.

    >>> "qwen-prm" in verifier_names()
    True
    """
    return tuple(verifier.name for protocol in all_protocols() for verifier in protocol.verifiers)


def find_verifier(name: str) -> tuple[Protocol, Verifier]:
    """The verifier of a short name or of its Hugging Face name, and its protocol.

    >>> find_verifier("skywork-7b")[1].model
    'Skywork/Skywork-o1-Open-PRM-Qwen-2.5-7B'
    """
    for protocol in map(registry().get, registry().names):  # lazily: built-in ones first, then those of packages
        for verifier in protocol.verifiers:
            if name in (verifier.name, verifier.model):
                return protocol, verifier
    raise SettingError(f"unknown verifier {name!r}: {did_you_mean(name, verifier_names())}")
