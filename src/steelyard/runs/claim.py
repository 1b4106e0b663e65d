"""A folder of parts on an object store belongs to the command that put its parts.json there first.

There are no locks on a store; but an object can be put only where there is none, and of two commands one succeeds. A
store that takes the second as well would let both write, and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from steelyard.foundation.errors import StoreError
from steelyard.foundation.files import UnwritableError
from steelyard.foundation.stores.address import Address
from steelyard.runs.parts import FILE, Parts


def claim(folder: Address, wanted: Parts) -> bool:
    """Put parts.json if there is none; return whether it was put."""
    path, content = folder / FILE, wanted.text.encode()
    if not path.create(content):
        return False
    if path.create(content):
        path.remove()
        raise StoreError(
            f"{folder} is on a store that puts an object over another where it was told not to, so that two commands "
            "could write into one folder: use a folder, or another store"
        )
    return True


def check_new(folder: Address) -> None:
    """Refuse a folder with anything in it, and one that would be read as a file."""
    if folder.name.lower().endswith((".parquet", ".pq")):
        raise UnwritableError(str(folder), "a folder of parts goes there, and this is the name of a file")
    there = folder.objects()
    if there:
        why = f"it is there already, with {len(there):,} objects ({min(there)}, ..)"
        raise UnwritableError(str(folder), why, "choose another folder with -o, or remove them all")


@contextmanager
def claimed(folder: Address, wanted: Parts) -> Iterator[None]:
    """Make a new folder in this block; where that fails, nothing of it stays."""
    check_new(folder)
    if not claim(folder, wanted):
        raise UnwritableError(str(folder), "another command writes to it", "choose another folder with -o")
    try:
        yield
    except BaseException:
        with suppress(StoreError):
            there = folder.objects()
            for name in [*(path.name for path in wanted.paths(folder)), FILE]:
                if name in there:
                    (folder / name).remove()
        raise
