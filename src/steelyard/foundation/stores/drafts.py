"""Files that are written here first, and appear at their place whole or not at all, be it a path or an address."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from steelyard.foundation.files import UnwritableError, reason, replacing, write_atomically
from steelyard.foundation.stores.address import Address, Place, State


@dataclass
class Draft:
    """Where to write; `tag` is what the store calls the content, once it is there."""

    path: Path
    tag: str | None = None


@contextmanager
def drafted(place: Place, *, durable: bool = False, follow: bool = True) -> Iterator[Draft]:
    """Yield a file that takes its place when the block ends well; the options are those of `replacing`."""
    if isinstance(place, Path):
        with replacing(place, durable=durable, follow=follow) as temporary:
            yield Draft(temporary)
        return
    with nameless_file() as path:
        draft = Draft(path)
        try:
            yield draft
        except OSError as error:
            why = f"{reason(error)} in {tempfile.gettempdir()}, where it is written first"
            raise UnwritableError(str(place), why, "make room there, or set TMPDIR") from None
        draft.tag = place.upload(path)


@contextmanager
def nameless_file() -> Iterator[Path]:
    """Yield an empty file in $TMPDIR that is gone when the block ends, or the process, however that ends.

    It has no name but the number by which this process holds it; where a system has no such names, it has one, and
    stays if the process is killed.
    """
    if Path("/proc/self/fd").is_dir():
        with tempfile.TemporaryFile(prefix="steelyard-") as file:
            yield Path(f"/proc/self/fd/{file.fileno()}")
    else:
        with tempfile.NamedTemporaryFile(prefix="steelyard-", suffix=".parquet") as named:
            yield Path(named.name)


def put_bytes(place: Place, content: bytes, *, follow: bool = False) -> None:
    """Write bytes in one step; to a file so that they survive a power cut, and through a link only with `follow`."""
    if isinstance(place, Address):
        place.write_bytes(content)
    else:
        write_atomically(place, content, durable=True, follow=follow)


def sizes_of(places: Sequence[Place]) -> list[int | None]:
    """The bytes of files, or of objects in one folder, each; None where there is none."""
    first = next(iter(places), None)
    there = first.parent.objects() if isinstance(first, Address) else {}  # asked for once
    return [_size(place) if isinstance(place, Path) else _listed(place, there) for place in places]


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _listed(address: Address, there: Mapping[str, State]) -> int | None:
    return there[address.name].bytes if address.name in there else None
