"""A folder of parts: each question belongs to one part, by a hash of its id, and parts.json describes the folder.

    parts.json            how the folder was made, the rows and bytes of each part, and whether it is finished
    part-00000.parquet    one table per part (or a folder part-00000 if the parts are runs)

The hash is the same on every machine and in every version, so two folders with the same number of parts have the same
questions in each part.

On an object store, the first command to create parts.json owns the folder. A store has no locks, but it can create an
object only if there is none, so one of two commands succeeds. A store that accepts the second object too would let both
write, and is refused.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from steelyard.foundation.arguments import choose_another
from steelyard.foundation.drafts import nameless_file, put_bytes, sizes_of
from steelyard.foundation.errors import RunError, SettingError, StoreError
from steelyard.foundation.files import UnwritableError, reason
from steelyard.foundation.store_address import Address, Place
from steelyard.foundation.version import __version__
from steelyard.runs.manifest import sha256_of

FILE = "parts.json"
FORMAT, VERSION = "steelyard-parts", 1
HASH = "blake2b-64 of the question in UTF-8, modulo parts"
MAX_PARTS = 100_000
HEAD = 500  # bytes of parts.json that contain its kind
RUNS = f'"hash": "{HASH}", "kind": "runs"'.encode()
AGAIN = "remove the folder and make it again"


def part_of(question: str, parts: int) -> int:
    """Return the number of the part that a question belongs to.

    >>> part_of("q17", 8), part_of("q17", 8), part_of("ä", 1000)
    (0, 0, 529)
    """
    digest = hashlib.blake2b(question.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % parts


def part_name(number: int) -> str:
    """Return the name of a part, without a file suffix.

    >>> part_name(17)
    'part-00017'
    """
    return f"part-{number:05d}"


def check_parts(parts: int) -> None:
    if not 1 <= parts <= MAX_PARTS:
        raise SettingError(f"there cannot be {parts:,} parts: give a number between 1 and {MAX_PARTS:,}")


@dataclass(frozen=True)
class Parts:
    """The content of parts.json. `kind` is the content of the parts: responses, verdicts, answers or runs.

    `order` is a digest of everything that determines the content of the parts. `rows`, `bytes` and `sha256` have one
    entry per part; they are empty until the folder is `finished`.
    """

    kind: str
    parts: int
    order: str = ""
    made: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    rows: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    sha256: list[str] = field(default_factory=list)
    finished: bool = False
    steelyard: str = __version__

    def write(self, folder: Place) -> None:
        """Write parts.json in one step."""
        put_bytes(folder / FILE, self.text.encode())

    @property
    def text(self) -> str:
        content = {"format": FORMAT, "version": VERSION, "hash": HASH, **asdict(self)}
        return json.dumps(content) + "\n"

    @classmethod
    def read(cls, folder: Place) -> Parts:
        """Read parts.json, or raise a RunError that says why the folder is not a folder of parts."""
        path = folder / FILE
        try:
            content = json.loads(path.read_bytes().decode())
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r:.40}, not {FORMAT!r}")
            if content["version"] > VERSION or content["hash"] != HASH:
                raise RunError(f"{folder} was made by Steelyard {content['steelyard']}: install that or a newer one")
            parts = cls(**{item.name: content[item.name] for item in fields(cls)})
            parts._check()
            return parts
        except (FileNotFoundError, NotADirectoryError):
            raise RunError(
                f"{folder} is not a folder of parts: it has no {FILE}; make one with 'steelyard partition'"
            ) from None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise RunError(f"{path} is damaged ({error}): {AGAIN}") from None

    def _check(self) -> None:
        if type(self.parts) is not int or not 1 <= self.parts <= MAX_PARTS or not isinstance(self.kind, str):
            raise ValueError(f"parts is {self.parts!r:.40}")
        for name, kind in {"rows": int, "bytes": int, "sha256": str}.items() if self.finished else ():
            value = getattr(self, name)
            if len(value) != self.parts or any(type(item) is not kind for item in value):
                raise ValueError(f"{name} is not one {'number' if kind is int else 'text'} per part")

    def paths(self, folder: Place) -> list[Place]:
        return [folder / f"{part_name(i)}.parquet" for i in range(self.parts)]


def is_parted(folder: Place) -> bool:
    """Whether a folder has parts that are tables."""
    if isinstance(folder, Path):
        return (folder / FILE).is_file() and not is_parted_run(folder)
    head = _head(folder / FILE)
    return head is not None and RUNS not in head


def is_parted_run(folder: Place) -> bool:
    """Whether a folder is a run in parts (steelyard/runs/parted_run.py)."""
    return RUNS in (_head(folder / FILE) or b"")


def _head(path: Place) -> bytes | None:
    """The first bytes of a file or an object; None if it cannot be read."""
    try:
        if isinstance(path, Address):
            return path.read_bytes()[:HEAD]
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError:
        return None


def part_tables(folder: Place) -> tuple[Parts, list[Place]]:
    """Return the metadata and the tables of a finished folder; refuse missing or truncated tables."""
    parts = Parts.read(folder)
    if is_parted_run(folder):
        prefix = "copy it to a file system, and " if isinstance(folder, Address) else ""
        command = f"steelyard partition {'RUN' if prefix else folder} -o FOLDER"
        raise RunError(f"{folder} is a run in parts: {prefix}make tables of it with '{command}'")
    if not parts.finished:
        retry = "run the command that makes it again, or " if parts.order else ""  # `partition` starts over
        raise RunError(f"{folder} is not finished: {retry}{AGAIN}")
    paths = parts.paths(folder)
    check_sizes(paths, parts.bytes)
    return parts, paths


@contextmanager
def unchanged(location: Place, digest: str) -> Iterator[Path]:
    """Yield a part as a local file, downloaded temporarily if necessary; refuse a changed part."""
    if isinstance(location, Path):
        check_unchanged(location, digest)
        yield location
        return
    with nameless_file() as path:
        try:
            actual = location.download(path)
        except FileNotFoundError:
            raise RunError(f"{location} is missing: restore it, or {AGAIN}") from None
        except OSError as error:
            folder = f"{tempfile.gettempdir()} ({reason(error)})"
            raise RunError(f"{location} cannot be copied to {folder}: make room there, or set TMPDIR") from None
        _check_digest(location, actual, digest)
        yield path


def check_unchanged(path: Path, digest: str) -> None:
    """Refuse a part whose bytes have changed; a flipped bit would be read as another number."""
    try:
        actual = sha256_of(path)
    except OSError as error:
        raise RunError(f"{path} cannot be read ({reason(error)}): restore it, or {AGAIN}") from None
    _check_digest(path, actual, digest)


def _check_digest(location: Place, actual: str, digest: str) -> None:
    if actual != digest:
        raise RunError(f"{location} was changed after it was made: restore it, or {AGAIN}")


def check_sizes(locations: Sequence[Place], sizes: Sequence[int]) -> None:
    """Refuse a part that is missing or has another size than when it was written."""
    for location, actual, size in zip(locations, sizes_of(locations), sizes, strict=True):
        if actual is None:
            raise RunError(f"{location} is missing: restore it, or {AGAIN}")
        if actual != size:
            raise RunError(f"{location} has {actual:,} bytes instead of {size:,}: restore it, or {AGAIN}")


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
