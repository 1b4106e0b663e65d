"""Verifiers: how each is asked and read, one protocol a file, and where they run.

Adding a protocol is adding a file to `protocols/` with a `PROTOCOL`; the command line, the table of
docs/verifiers.md and the checks of every protocol find it by walking that folder.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from steelyard.errors import SettingError, did_you_mean

if TYPE_CHECKING:
    from steelyard.verifiers.protocol import Protocol, Verifier

FOLDER = Path(__file__).parent / "protocols"


@cache
def all_protocols() -> tuple[Protocol, ...]:
    """All protocols, in the order of their files."""
    names = sorted(module.name for module in iter_modules([str(FOLDER)]) if module.name[0] != "_")
    return tuple(import_module(f"{__name__}.protocols.{name}").PROTOCOL for name in names)


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
    for protocol in all_protocols():
        for verifier in protocol.verifiers:
            if name in (verifier.name, verifier.model):
                return protocol, verifier
    raise SettingError(f"unknown verifier {name!r}: {did_you_mean(name, verifier_names())}")
