"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import SettingError

ADDRESS = re.compile(r"([a-z]\w*):/+([^/].*)", re.DOTALL)
FOREIGN = re.compile(r"([A-Za-z][\w+.-]+):(/|$)")
SCHEMES = ("s3", "s3a", "gs", "gcs", "az", "adl", "abfs", "abfss", "file")  # of the addresses on object stores


class UnwritableError(SettingError):
    """A file cannot be written; `why` is the reason alone."""

    def __init__(self, path: str | Path, why: str, fix: str = "choose another path with -o") -> None:
        super().__init__(f"cannot write {path}: {why}; {fix}")
        self.why = why


def reason(error: BaseException) -> str:
    """Return why the system refused, also where it gave a number and no words.

    >>> reason(OSError(28, ""))
    'No space left on device (ENOSPC)'
    """
    if isinstance(error, OSError) and not error.strerror and error.errno:
        return f"{os.strerror(error.errno)} ({errno.errorcode.get(error.errno, error.errno)})"
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(said.split())[:200] or type(error).__name__


def address_of(source: Any) -> str | None:
    """The address on an object store that a text means, also where it was taken for a path and lost a slash; else None.

    >>> address_of("s3://bucket/a.parquet"), address_of(Path("s3://bucket/a.parquet")), address_of("a.parquet")
    ('s3://bucket/a.parquet', 's3://bucket/a.parquet', None)
    >>> address_of("file:///data/a.parquet")
    'file:///data/a.parquet'
    """
    found = ADDRESS.fullmatch(str(source)) if isinstance(source, str | Path) else None
    if not found or found[1] not in SCHEMES:
        return None
    return f"{found[1]}://{'/' if found[1] == 'file' else ''}{found[2]}"


def check_no_address(path: str | Path) -> None:
    """Refuse an address of an object store, which would be taken for the name of a folder here."""
    address = address_of(path)
    if address is None:
        _check_no_foreign_address(str(path))
        return
    if address.startswith("file:"):
        raise UnwritableError(address, "it is an address", f"name the path itself, {address.removeprefix('file://')}")
    why = "only Parquet tables and folders of parts go to object stores"
    raise UnwritableError(
        address, why, "write to a folder here, and copy it there (aws s3 cp --recursive, rclone copy)"
    )


def _check_no_foreign_address(path: str) -> None:
    """Refuse what looks like an address and is none; a name that ends in a colon is one only if it is a scheme's."""
    found = FOREIGN.match(path)
    if found and (found[2] or found[1].lower() in SCHEMES):
        raise UnwritableError(
            path,
            "it is an address of no store that is known here",
            f"begin it with one of {', '.join(SCHEMES)}, as s3://",
        )


def local_path(source: str | Path) -> str | Path:
    """The path that an address file:///.. means; anything else as it is.

    >>> local_path("file:///data/a.parquet"), local_path("a.parquet")
    (PosixPath('/data/a.parquet'), 'a.parquet')
    """
    address = address_of(source)
    return Path(address.removeprefix("file://")) if address and address.startswith("file:") else source


def check_writable(path: str | Path, *, follow: bool = True) -> Path:
    """Fail now, not after the work, when a result could not be written; return where it will go.

    A link is followed, unless `follow` is false: then it is what gets replaced. Devices, pipes and other things that
    are not files are left alone.
    """
    check_no_address(path)
    try:
        str(path).encode()
        target = Path(path).resolve() if follow else Path(path).parent.resolve() / Path(path).name
        kind = target.stat().st_mode if target.exists() and not target.is_symlink() else None
    except (OSError, ValueError, RuntimeError) as error:
        raise UnwritableError(f"{str(path)!r:.100}", str(error) or reason(error)) from None
    if kind is not None and stat.S_ISDIR(kind):
        raise UnwritableError(path, "it is a folder", "name a file in it")
    if kind is not None and not stat.S_ISREG(kind):
        raise UnwritableError(path, "it is a device or a pipe", "name a file")
    if not target.parent.is_dir():
        raise UnwritableError(path, f"there is no folder {target.parent}", "make it first")
    if not os.access(target.parent, os.W_OK) or (kind is not None and not os.access(target, os.W_OK)):
        raise UnwritableError(path, "permission denied")
    return target


def make_folder(path: str | Path) -> Path:
    """Make a folder, or say why it cannot be."""
    check_no_address(path)
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        why = str(error) or reason(error)
        raise SettingError(f"cannot make the folder {str(path)!r:.100}: {why}; choose another folder") from None
    return Path(path)


def sync_file(handle: int) -> None:
    """Write a file through to the disk: on macOS fsync stops at the disk's cache, which F_FULLFSYNC flushes."""
    import fcntl

    if hasattr(fcntl, "F_FULLFSYNC"):
        with contextlib.suppress(OSError):  # some file systems have only fsync
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        sync_file(handle)
    finally:
        os.close(handle)


def read_small(path: Path, limit: int) -> bytes:
    """Read a file or pipe of at most `limit` bytes; a longer or endless one is a ValueError."""
    with path.open("rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"it is larger than {limit:,} bytes")
    return content


def free_bytes(folder: Path) -> str:
    """How much room there is, in words."""
    try:
        return f"{shutil.disk_usage(folder).free:,} bytes free"
    except OSError as error:
        return f"nobody knows how much is free: {reason(error)}"


@contextlib.contextmanager
def replacing(path: str | Path, *, durable: bool = False, follow: bool = True) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place when the block ends well.

    A link stays one and what it leads to is replaced; with `follow` false the link is. With `durable`, what was
    written is on the disk before it takes its place, and so is its name before this returns.
    """
    target = check_writable(path, follow=follow)
    temporary = None
    try:
        prefix = f".{target.name}.{os.getpid()}."
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=prefix, suffix=target.suffix)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        if durable:
            with temporary.open("rb") as file:
                sync_file(file.fileno())
        temporary.replace(target)
        if durable:
            sync_folder(target.parent)
    except OSError as error:
        raise UnwritableError(path, reason(error)) from None
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of processes that died before theirs took its place."""
    for path in folder.glob(".*"):
        named = re.fullmatch(r"\..+\.(\d+)\.\w+(\.\w+)?", path.name)
        if named and not is_running(int(named[1])):
            path.unlink(missing_ok=True)


def is_running(process: int) -> bool:
    """Whether a process with this number runs on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # of another user, or no process number
        return True
    return True


def write_atomically(path: str | Path, content: bytes, *, durable: bool = False, follow: bool = True) -> None:
    """Write bytes to a file in one step."""
    with replacing(path, durable=durable, follow=follow) as temporary:
        temporary.write_bytes(content)
