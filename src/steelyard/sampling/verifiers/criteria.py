"""The criteria of a judge: a text of the user, which replaces the default of the protocol."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from steelyard.foundation.errors import SettingError
from steelyard.foundation.files import read_small
from steelyard.sampling.verifiers.protocol import ChatProtocol, Protocol

LARGEST = 1 << 20  # bytes of a file


def read_criteria(path: Path | None) -> str | None:
    """Read the file of --criteria, if there is one."""
    if path is None:
        return None
    try:
        text = read_small(path, LARGEST).decode("utf-8-sig").replace("\r\n", "\n").strip()
    except (OSError, ValueError) as error:
        raise SettingError(f"cannot read the criteria {str(path)!r:.80}: {error}; give a text file in UTF-8") from None
    if not text:
        raise SettingError(f"{path} has no text: write the criteria of the judge into it, or omit --criteria")
    return text


def with_criteria(name: str, protocol: Protocol, criteria: str | None) -> Protocol:
    """The protocol with these criteria; None leaves its own. A protocol without criteria is refused."""
    if criteria is None:
        return protocol
    if not isinstance(protocol, ChatProtocol) or not protocol.criteria:
        raise SettingError(f"{name} takes no criteria: omit --criteria, or use --verifier judge")
    if not criteria.strip():
        raise SettingError("the criteria are empty: describe a good response, or omit them")
    return replace(protocol, criteria=criteria, render=partial(protocol.render, criteria=criteria))


def criteria_hash(criteria: str | None) -> str | None:
    """What a run records of the criteria; None for the default ones.

    >>> criteria_hash("Be brief."), criteria_hash(None)
    ('sha256:213c22ed7234eb11', None)
    """
    if criteria is None:
        return None
    return "sha256:" + sha256(criteria.encode("utf-8", "surrogatepass")).hexdigest()[:16]
