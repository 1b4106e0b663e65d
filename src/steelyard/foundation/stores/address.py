"""An address on an object store, with the few things that a path can do.

An object appears whole or not at all, so nothing is renamed; and one can be put only where there is none, which is how
a command claims a folder. A folder is nothing but the names of objects that begin alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeAlias

from steelyard.foundation.files import address_of
from steelyard.foundation.stores.connecting import connected
from steelyard.foundation.stores.spelling import check_spelling

PIECE = 8 << 20  # bytes that travel in one request
AT_ONCE = 4  # requests of one upload


class State(NamedTuple):
    """What tells an object from another one of its name: a store gives every content a tag."""

    bytes: int
    tag: str | None


@dataclass(frozen=True)
class Address:
    """Where an object is, or where names of objects begin.

    >>> part = Address("s3://bucket/parts") / "part-00000.parquet"
    >>> str(part), part.stem, str(part.with_suffix(".json")), str(part.parent)
    ('s3://bucket/parts/part-00000.parquet', 'part-00000', 's3://bucket/parts/part-00000.json', 's3://bucket/parts')
    """

    text: str

    def __str__(self) -> str:
        return self.text

    def __truediv__(self, name: str) -> Address:
        return Address(f"{self.text}/{name}")

    @property
    def name(self) -> str:
        """What comes after the last slash."""
        return self.text.rpartition("/")[2]

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return PurePosixPath(self.name).stem

    @property
    def parent(self) -> Address:
        """What the address is in."""
        return Address(self.text.rpartition("/")[0])

    def with_suffix(self, suffix: str) -> Address:
        """The same address with another suffix."""
        return self.parent / PurePosixPath(self.name).with_suffix(suffix).name

    def absolute(self) -> Address:
        """An address is the same everywhere."""
        return self

    def read_bytes(self) -> bytes:
        """The content; a FileNotFoundError where there is no such object."""
        with connected(self.text) as (store, key):
            return bytes(store.get(key).bytes())

    def is_file(self) -> bool:
        """Whether there is such an object; it is asked for, as a store says only then that there is no such bucket."""
        try:
            with connected(self.text) as (store, key):
                store.get(key)
        except FileNotFoundError:
            return False
        return True

    def state(self) -> State | None:
        """Its length and its tag; None where there is no such object."""
        try:
            with connected(self.text) as (store, key):
                found = store.head(key)
        except FileNotFoundError:
            return None
        return State(found["size"], found["e_tag"])

    def objects(self) -> dict[str, State]:
        """All objects below, by their names from here on; the mark of an empty folder, as consoles make it, is none."""
        with connected(self.text) as (store, key):
            found = [each for some in store.list(prefix=key or None) for each in some]
        above = len(key) + 1 if key else 0
        below = [each for each in found if len(each["path"]) > above]
        return {each["path"][above:]: State(each["size"], each["e_tag"]) for each in below}

    def write_bytes(self, content: bytes) -> None:
        """Put an object, over whatever is there."""
        with connected(self.text) as (store, key):
            store.put(key, content, use_multipart=False)

    def create(self, content: bytes) -> bool:
        """Put an object if there is none; return whether it was put."""
        with connected(self.text) as (store, key):
            from obstore.exceptions import AlreadyExistsError, PreconditionError

            try:
                store.put(key, content, mode="create", use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                return False
        return True

    def upload(self, path: Path) -> str | None:
        """Put a file from here, over whatever is there; return the tag that it has there."""
        with connected(self.text) as (store, key):
            tag: str | None = store.put(key, path, chunk_size=PIECE, max_concurrency=AT_ONCE)["e_tag"]
        return tag

    def download(self, path: Path) -> str:
        """Write the content to a file that is here, piece by piece; return its SHA-256."""
        digest = hashlib.sha256()
        with path.open("wb") as file:
            for piece in self._pieces():
                digest.update(piece)
                file.write(piece)
        return digest.hexdigest()

    def _pieces(self) -> Iterator[bytes]:
        with connected(self.text) as (store, key):
            size = store.head(key)["size"]
            for start in range(0, size, PIECE):
                yield store.get_range(key, start=start, end=min(size, start + PIECE))

    def remove(self) -> None:
        """Remove the object, if it is there."""
        with suppress(FileNotFoundError), connected(self.text) as (store, key):
            store.delete(key)


Place: TypeAlias = Path | Address


def place_of(source: str | Path) -> Place:
    """The address that a text means, also where it was taken for a path and lost a slash; else the path.

    >>> place_of(Path("s3://bucket/parts/")), place_of("parts")
    (Address(text='s3://bucket/parts'), PosixPath('parts'))
    """
    address = address_of(source)
    if address is None:
        return Path(source)
    check_spelling(address)
    return Address(address.rstrip("/"))
