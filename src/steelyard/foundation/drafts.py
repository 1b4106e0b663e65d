"""Atomic writes to a path or an object store, by way of a local draft."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from steelyard.foundation.files import UnwritableError, reason, replacing, write_atomically
from steelyard.foundation.store_address import Address, Place


@dataclass
class Draft:
    """The path to write to; `tag` is the tag of the object after the upload."""

    path: Path
    tag: str | None = None


@contextmanager
def open_draft(target: Place, *, durable: bool = False, follow: bool = True) -> Iterator[Draft]:
    """Yield a draft that replaces the target when the block succeeds; the options are those of `replacing`."""
    if isinstance(target, Path):
        with replacing(target, durable=durable, follow=follow) as temporary:
            yield Draft(temporary)
        return
    with nameless_file() as path:
        draft = Draft(path)
        try:
            yield draft
        except OSError as error:
            why = f"{reason(error)} in {tempfile.gettempdir()}, where the draft is written"
            raise UnwritableError(str(target), why, "make room there, or set TMPDIR") from None
        draft.tag = target.upload(path)


@contextmanager
def nameless_file() -> Iterator[Path]:
    """Yield an empty file in $TMPDIR that disappears at the end of the block or of the process.

    It is accessible only through its file descriptor. On a system without /proc it has a name, and remains if the
    process is killed.
    """
    if Path("/proc/self/fd").is_dir():
        with tempfile.TemporaryFile(prefix="steelyard-") as file:
            yield Path(f"/proc/self/fd/{file.fileno()}")
    else:
        with tempfile.NamedTemporaryFile(prefix="steelyard-", suffix=".parquet") as named:
            yield Path(named.name)


def put_bytes(target: Place, content: bytes, *, follow: bool = False) -> None:
    """Write bytes atomically; a file is durable, and a link is followed only with `follow`."""
    if isinstance(target, Address):
        target.write_bytes(content)
    else:
        write_atomically(target, content, durable=True, follow=follow)


def sizes_of(paths: Sequence[Place]) -> list[int | None]:
    """Return the sizes of files, or of objects in one folder; None for a missing one."""
    first = next(iter(paths), None)
    listed = first.parent.objects() if isinstance(first, Address) else {}  # listed once
    return [
        _size(path) if isinstance(path, Path) else listed[path.name].bytes if path.name in listed else None
        for path in paths
    ]


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
