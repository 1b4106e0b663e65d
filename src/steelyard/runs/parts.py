"""A folder of parts: every question is in one of them, by a hash of its text, and parts.json says what is there.

    parts.json            what made the folder, how many parts, rows and bytes of each, and whether it is finished
    part-00000.parquet    one table per part (or a folder part-00000, where the parts are runs)

The hash is the same on every machine and in every version, so two folders of as many parts have the same questions in
the parts of the same number.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import RunError, SettingError
from steelyard.foundation.files import reason
from steelyard.foundation.stores.address import Address, Place
from steelyard.foundation.stores.drafts import nameless_file, put_bytes, sizes_of
from steelyard.foundation.version import __version__
from steelyard.runs.manifest import sha256_of

FILE = "parts.json"
FORMAT, VERSION = "steelyard-parts", 1
HASH = "blake2b-64 of the question in UTF-8, modulo parts"
MOST = 100_000
HEAD = 500  # bytes of parts.json that say what it is of
RUNS = f'"hash": "{HASH}", "kind": "runs"'.encode()
AGAIN = "remove the folder and make it again"


def part_of(question: str, parts: int) -> int:
    """The number of the part that a question is in.

    >>> part_of("q17", 8), part_of("q17", 8), part_of("ä", 1000)
    (0, 0, 529)
    """
    digest = hashlib.blake2b(question.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % parts


def part_name(number: int) -> str:
    """The name of a part, without the suffix of its file.

    >>> part_name(17)
    'part-00017'
    """
    return f"part-{number:05d}"


def check_parts(parts: int) -> None:
    """Refuse a number of parts that cannot be."""
    if not 1 <= parts <= MOST:
        raise SettingError(f"there cannot be {parts:,} parts: give a number between 1 and {MOST:,}")


@dataclass(frozen=True)
class Parts:
    """What parts.json says. `kind` is what the parts hold: responses, verdicts, answers or runs.

    `order` is a digest of all that decides what is in the parts: another one makes other parts. `rows`, `bytes` and
    `sha256` are those of every part; they are empty until the folder is `finished`.
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
        """What parts.json holds."""
        content = {"format": FORMAT, "version": VERSION, "hash": HASH, **asdict(self)}
        return json.dumps(content) + "\n"

    @classmethod
    def read(cls, folder: Place) -> Parts:
        """Read parts.json, or say in one line why the folder is none of parts."""
        path = folder / FILE
        try:
            content = json.loads(path.read_bytes().decode())
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r:.40}, not {FORMAT!r}")
            if content["version"] > VERSION or content["hash"] != HASH:
                raise RunError(f"{folder} was made by Steelyard {content['steelyard']}: install that or a newer one")
            found = cls(**{each.name: content[each.name] for each in fields(cls)})
            found._check()
            return found
        except (FileNotFoundError, NotADirectoryError):
            raise RunError(
                f"{folder} is no folder of parts: it has no {FILE}; make one with 'steelyard partition'"
            ) from None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise RunError(f"{path} is damaged ({error}): {AGAIN}") from None

    def _check(self) -> None:
        if type(self.parts) is not int or not 1 <= self.parts <= MOST or not isinstance(self.kind, str):
            raise ValueError(f"parts is {self.parts!r:.40}")
        for name, kind in {"rows": int, "bytes": int, "sha256": str}.items() if self.finished else ():
            value = getattr(self, name)
            if len(value) != self.parts or any(type(each) is not kind for each in value):
                raise ValueError(f"{name} is not one {'number' if kind is int else 'text'} per part")

    def paths(self, folder: Place) -> list[Place]:
        """Where the tables of the parts are."""
        return [folder / f"{part_name(i)}.parquet" for i in range(self.parts)]


def is_parted(folder: Place) -> bool:
    """Whether a folder is one of parts that are tables."""
    if isinstance(folder, Path):
        return (folder / FILE).is_file() and not is_parted_run(folder)
    head = _head(folder / FILE)
    return head is not None and RUNS not in head


def is_parted_run(folder: Place) -> bool:
    """Whether a folder is a run in parts (steelyard/runs/parted_run.py)."""
    return RUNS in (_head(folder / FILE) or b"")


def _head(place: Place) -> bytes | None:
    """The first bytes of a file or an object; None where there is none that can be read."""
    try:
        if isinstance(place, Address):
            return place.read_bytes()[:HEAD]
        with place.open("rb") as file:
            return file.read(HEAD)
    except OSError:
        return None


def part_tables(folder: Place) -> tuple[Parts, list[Place]]:
    """Return what a finished folder says of itself and the tables of its parts; name what is missing or cut short."""
    found = Parts.read(folder)
    if is_parted_run(folder):
        first = "copy it to a file system, and " if isinstance(folder, Address) else ""
        words = f"steelyard partition {'RUN' if first else folder} -o FOLDER"
        raise RunError(f"{folder} is a run in parts: {first}make tables of it with '{words}'")
    if not found.finished:
        going_on = "run the command that makes it again, or " if found.order else ""  # partition begins anew
        raise RunError(f"{folder} is not finished: {going_on}{AGAIN}")
    paths = found.paths(folder)
    check_whole(paths, found.bytes)
    return found, paths


@contextmanager
def unchanged(place: Place, digest: str) -> Iterator[Path]:
    """Yield a part as a file that is here, and gone afterwards where it came from elsewhere; refuse a changed one."""
    if isinstance(place, Path):
        check_unchanged(place, digest)
        yield place
        return
    with nameless_file() as path:
        try:
            there = place.download(path)
        except FileNotFoundError:
            raise RunError(f"{place} is missing: restore it, or {AGAIN}") from None
        except OSError as error:
            where = f"{tempfile.gettempdir()} ({reason(error)})"
            raise RunError(f"{place} cannot be copied to {where}: make room there, or set TMPDIR") from None
        _check_digest(place, there, digest)
        yield path


def check_unchanged(path: Path, digest: str) -> None:
    """Refuse a part that is not byte for byte what was made; a flipped bit is read as another number."""
    try:
        there = sha256_of(path)
    except OSError as error:
        raise RunError(f"{path} cannot be read ({reason(error)}): restore it, or {AGAIN}") from None
    _check_digest(path, there, digest)


def _check_digest(place: Place, there: str, digest: str) -> None:
    if there != digest:
        raise RunError(f"{place} was changed after it was made: restore it, or {AGAIN}")


def check_whole(places: Sequence[Place], sizes: Sequence[int]) -> None:
    """Refuse a part that is not there, or is not as long as it was written."""
    for place, there, size in zip(places, sizes_of(places), sizes, strict=True):
        if there is None:
            raise RunError(f"{place} is missing: restore it, or {AGAIN}")
        if there != size:
            raise RunError(f"{place} has {there:,} bytes instead of {size:,}: restore it, or {AGAIN}")
