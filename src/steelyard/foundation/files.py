"""Atomic, durable file writes, and checks of output paths."""

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

from steelyard.foundation.arguments import choose_another
from steelyard.foundation.errors import SettingError

ADDRESS = re.compile(r"([a-z]\w*):/+([^/].*)", re.DOTALL)
FOREIGN = re.compile(r"([A-Za-z][\w+.-]+):(/|$)")
SCHEMES = ("s3", "s3a", "gs", "gcs", "az", "adl", "abfs", "abfss", "file")  # of object-store addresses


class UnwritableError(SettingError):
    """A file cannot be written; `why` is the reason without the fix."""

    def __init__(self, path: str | Path, why: str, fix: str = "") -> None:
        super().__init__(f"cannot write {path}: {why}; {fix or choose_another()}")
        self.why = why


def reason(error: BaseException) -> str:
    """Return the reason of an error, also for an OSError with a number but no text.

    >>> reason(OSError(28, ""))
    'No space left on device (ENOSPC)'
    """
    if isinstance(error, OSError) and not error.strerror and error.errno:
        return f"{os.strerror(error.errno)} ({errno.errorcode.get(error.errno, error.errno)})"
    message = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(message.split())[:200] or type(error).__name__


def address_of(source: Any) -> str | None:
    """Return the object-store address in a text or path (a path loses a slash of the address), or None.

    >>> address_of("s3://bucket/a.parquet"), address_of(Path("s3://bucket/a.parquet")), address_of("a.parquet")
    ('s3://bucket/a.parquet', 's3://bucket/a.parquet', None)
    >>> address_of("file:///data/a.parquet")
    'file:///data/a.parquet'
    """
    match = ADDRESS.fullmatch(str(source)) if isinstance(source, str | Path) else None
    if not match or match[1] not in SCHEMES:
        return None
    return f"{match[1]}://{'/' if match[1] == 'file' else ''}{match[2]}"


def check_no_address(path: str | Path) -> None:
    """Refuse an object-store address, which would be treated as a local folder."""
    address = address_of(path)
    if address is None:
        match = FOREIGN.match(str(path))  # a name that ends in a colon counts only if it is a known scheme
        if match and (match[2] or match[1].lower() in SCHEMES):
            fix = f"use one of the schemes {', '.join(SCHEMES)}, as in s3://"
            raise UnwritableError(path, "it is an address with an unknown scheme", fix)
        return
    if address.startswith("file:"):
        raise UnwritableError(address, "it is an address", f"name the path itself, {address.removeprefix('file://')}")
    why = "only Parquet tables and folders of parts go to object stores"
    raise UnwritableError(
        address, why, "write to a local folder and copy it there (aws s3 cp --recursive, rclone copy)"
    )


def local_path(source: str | Path) -> str | Path:
    """Return the path of an address file:///..; anything else is returned unchanged.

    >>> local_path("file:///data/a.parquet"), local_path("a.parquet")
    (PosixPath('/data/a.parquet'), 'a.parquet')
    """
    address = address_of(source)
    return Path(address.removeprefix("file://")) if address and address.startswith("file:") else source


def check_writable(path: str | Path, *, follow: bool = True) -> Path:
    """Check before the work that a result can be written; return the path it will be written to.

    A link is followed, unless `follow` is false: then the link itself is replaced. Devices, pipes and other special
    files are refused.
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
    """Create a folder, or raise a SettingError that says why not."""
    check_no_address(path)
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        why = str(error) or reason(error)
        raise SettingError(f"cannot make the folder {str(path)!r:.100}: {why}; choose another folder") from None
    return Path(path)


def sync_file(handle: int) -> None:
    """Flush a file to disk; on macOS F_FULLFSYNC also flushes the cache of the disk, which fsync does not."""
    import fcntl

    if hasattr(fcntl, "F_FULLFSYNC"):
        with contextlib.suppress(OSError):  # some file systems support only fsync
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to disk, so that they survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        sync_file(handle)
    finally:
        os.close(handle)


def read_small(path: Path, limit: int) -> bytes:
    """Read a file or pipe of at most `limit` bytes; a longer or endless one raises a ValueError."""
    with path.open("rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"it is larger than {limit:,} bytes")
    return content


def free_bytes(folder: Path) -> str:
    """Describe how much space is free."""
    try:
        return f"{shutil.disk_usage(folder).free:,} bytes free"
    except OSError as error:
        return f"free space unknown: {reason(error)}"


@contextlib.contextmanager
def replacing(path: str | Path, *, durable: bool = False, follow: bool = True) -> Iterator[Path]:
    """Yield a temporary path next to `path` that replaces it when the block succeeds.

    If `path` is a link, its target is replaced, or the link itself if `follow` is false. With `durable`, the content is
    on disk before the replacement, and the name is on disk when this returns.
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
    """Remove the temporary files of processes that died before the replacement."""
    for path in folder.glob(".*"):
        match = re.fullmatch(r"\..+\.(\d+)\.\w+(\.\w+)?", path.name)
        if match and not is_running(int(match[1])):
            path.unlink(missing_ok=True)


def is_running(process: int) -> bool:
    """Whether a process with this id is running on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # a process of another user, or not a valid id
        return True
    return True


def write_atomically(path: str | Path, content: bytes, *, durable: bool = False, follow: bool = True) -> None:
    """Write bytes to a file in one step."""
    with replacing(path, durable=durable, follow=follow) as temporary:
        temporary.write_bytes(content)
