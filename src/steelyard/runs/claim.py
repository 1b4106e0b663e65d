"""Claim a folder of parts on an object store: the first command to create its parts.json owns it.

A store has no locks, but it can create an object only if there is none, so one of two commands succeeds. A store that
accepts the second object too would let both write, and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from steelyard.foundation.arguments import choose_another
from steelyard.foundation.errors import StoreError
from steelyard.foundation.files import UnwritableError
from steelyard.foundation.store_address import Address
from steelyard.runs.parts import FILE, Parts


def claim(folder: Address, parts: Parts) -> bool:
    """Create parts.json if there is none; return whether it was created."""
    path, content = folder / FILE, parts.text.encode()
    if not path.create(content):
        return False
    if path.create(content):
        path.remove()
        raise StoreError(
            f"{folder} is on a store that overwrites an object despite a conditional put, so that two commands "
            "could write into one folder: use a folder, or another store"
        )
    return True


def check_new(folder: Address) -> None:
    """Refuse a folder that is not empty, and one whose name looks like a file."""
    if folder.name.lower().endswith((".parquet", ".pq")):
        raise UnwritableError(str(folder), "the output is a folder of parts, and this is the name of a file")
    existing = folder.objects()
    if existing:
        why = f"it already exists, with {len(existing):,} objects ({min(existing)}, ..)"
        raise UnwritableError(str(folder), why, f"{choose_another('folder')}, or remove them all")


@contextmanager
def claimed(folder: Address, parts: Parts) -> Iterator[None]:
    """Make a new folder in this block; if the block fails, remove it."""
    check_new(folder)
    if not claim(folder, parts):
        raise UnwritableError(str(folder), "another command is writing to it", choose_another("folder"))
    try:
        yield
    except BaseException:
        with suppress(StoreError):
            existing = folder.objects()
            for name in [*(path.name for path in parts.paths(folder)), FILE]:
                if name in existing:
                    (folder / name).remove()
        raise
