"""An address on an object store, with a few of the methods of a path.

Objects are written atomically, so nothing is renamed; and an object can be created only if there is none, which is how
a command claims a folder. A folder is only a common prefix of object names.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeAlias

from steelyard.foundation.files import address_of
from steelyard.foundation.store_connections import check_spelling, open_store

PIECE = 8 << 20  # bytes per request
AT_ONCE = 4  # concurrent requests per upload
SPELLINGS = {"s3a": "s3", "gcs": "gs", "abfss": "abfs"}  # two schemes of one store
PART = re.compile(r"part-\d{5}\.parquet")


class State(NamedTuple):
    """The size and the tag (ETag) of an object, which identify its content."""

    bytes: int
    tag: str | None


@dataclass(frozen=True)
class Address:
    """The address of an object, or a prefix of object names.

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
        """The part after the last slash."""
        return self.text.rpartition("/")[2]

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return PurePosixPath(self.name).stem

    @property
    def parent(self) -> Address:
        """The address up to the last slash."""
        return Address(self.text.rpartition("/")[0])

    def with_suffix(self, suffix: str) -> Address:
        """Return the address with another suffix."""
        return self.parent / PurePosixPath(self.name).with_suffix(suffix).name

    def absolute(self) -> Address:
        """Return the address itself, which is always absolute."""
        return self

    def read_bytes(self) -> bytes:
        """Return the content; raises FileNotFoundError if there is no such object."""
        with open_store(self.text) as (store, key):
            return bytes(store.get(key).bytes())

    def is_file(self) -> bool:
        """Whether the object exists; uses GET, because only then a store reports a missing bucket."""
        try:
            with open_store(self.text) as (store, key):
                store.get(key)
        except FileNotFoundError:
            return False
        return True

    def state(self) -> State | None:
        """Return the size and tag, or None if there is no such object."""
        try:
            with open_store(self.text) as (store, key):
                metadata = store.head(key)
        except FileNotFoundError:
            return None
        return State(metadata["size"], metadata["e_tag"])

    def objects(self) -> dict[str, State]:
        """Return all objects below, by relative name, without the folder markers that web consoles create."""
        with open_store(self.text) as (store, key):
            objects = [item for batch in store.list(prefix=key or None) for item in batch]
        above = len(key) + 1 if key else 0
        below = [item for item in objects if len(item["path"]) > above]
        return {item["path"][above:]: State(item["size"], item["e_tag"]) for item in below}

    def write_bytes(self, content: bytes) -> None:
        """Put an object, replacing any existing one."""
        with open_store(self.text) as (store, key):
            store.put(key, content, use_multipart=False)

    def create(self, content: bytes) -> bool:
        """Create an object if there is none; return whether it was created."""
        with open_store(self.text) as (store, key):
            from obstore.exceptions import AlreadyExistsError, PreconditionError

            try:
                store.put(key, content, mode="create", use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                return False
        return True

    def upload(self, path: Path) -> str | None:
        """Upload a local file, replacing any existing object; return its tag."""
        with open_store(self.text) as (store, key):
            tag: str | None = store.put(key, path, chunk_size=PIECE, max_concurrency=AT_ONCE)["e_tag"]
        return tag

    def download(self, path: Path) -> str:
        """Download the content to a local file in pieces; return its SHA-256."""
        digest = hashlib.sha256()
        with path.open("wb") as file:
            for piece in self._pieces():
                digest.update(piece)
                file.write(piece)
        return digest.hexdigest()

    def _pieces(self) -> Iterator[bytes]:
        with open_store(self.text) as (store, key):
            size = store.head(key)["size"]
            for start in range(0, size, PIECE):
                yield store.get_range(key, start=start, end=min(size, start + PIECE))

    def remove(self) -> None:
        """Remove the object, if it exists."""
        with suppress(FileNotFoundError), open_store(self.text) as (store, key):
            store.delete(key)


Place: TypeAlias = Path | Address


def place_of(source: str | Path) -> Place:
    """Return the object-store address in a text or path (a path loses a slash of the address), else the path.

    >>> place_of(Path("s3://bucket/parts/")), place_of("parts")
    (Address(text='s3://bucket/parts'), PosixPath('parts'))
    """
    address = address_of(source)
    if address is None:
        return Path(source)
    check_spelling(address)
    return Address(address.rstrip("/"))


def is_one_of(target: Address, sources: Iterable[Any]) -> bool:
    """Whether an object is a source, matches a source pattern, or is a part in a source folder.

    >>> table = Address("s3://bucket/parts/part-00001.parquet")
    >>> [is_one_of(table, [source]) for source in ("s3a://bucket/parts/", "s3://bucket/*/*.parquet", "s3://bucket/part")]
    [True, True, False]
    """
    return any(_is_one(_normalized(str(target)), source) for source in sources)


def _is_one(target: str, source: Any) -> bool:
    if isinstance(source, list | tuple):
        return any(_is_one(target, item) for item in source)
    address = address_of(source)
    if address is None:
        return False
    source = _normalized(address)
    folder, _, name = target.rpartition("/")
    return (
        target == source
        or (folder == source and PART.fullmatch(name) is not None)
        or fnmatchcase(target, source.replace("**/", "*"))
    )


def _normalized(address: str) -> str:
    scheme, _, rest = address.rstrip("/").partition("://")
    return f"{SPELLINGS.get(scheme, scheme)}://{rest}"
