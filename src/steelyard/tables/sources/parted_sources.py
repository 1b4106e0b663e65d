"""Recognises folders of parts; an object store is queried only if the address is not that of a file."""

from __future__ import annotations

from glob import has_magic
from pathlib import Path

from steelyard.foundation.files import address_of
from steelyard.foundation.stores.address import place_of
from steelyard.runs.parts import is_parted
from steelyard.tables.sources.listing import KINDS
from steelyard.tables.sources.unpacking import plain_suffix


def is_parted_source(source: str | Path) -> bool:
    """Whether a path or an address is a folder of parts."""
    address = address_of(source)
    if address and (has_magic(address) or plain_suffix(Path(address)) in KINDS):
        return False
    return is_parted(place_of(source))
