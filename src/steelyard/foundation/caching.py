"""A cache on disk for bytes that are slow to compute from a short description.

Files are written atomically, with their hash at the end; a damaged file, or one of another user, is computed again. A
folder that is not writable disables the cache. It is `$XDG_CACHE_HOME/steelyard` or `~/.cache/steelyard`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from stat import S_IWGRP, S_IWOTH

from steelyard.foundation.errors import SettingError
from steelyard.foundation.files import write_atomically

OF_OTHERS = S_IWGRP | S_IWOTH  # permissions to write


def cache_folder() -> Path:
    """Return the cache folder of this user."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "steelyard"
    try:
        return Path.home() / ".cache" / "steelyard"
    except RuntimeError:  # a user without a home directory, in a container: no cache
        return Path(os.devnull) / "steelyard"


def cached(folder: Path, content: str, kind: str, make: Callable[[], bytes]) -> bytes:
    """Return the cached result of `make`, which depends only on `content`, such as a chart on its description."""
    path = folder / f"{sha256(content.encode()).hexdigest()[:32]}.{kind}"
    stored = _read_own(path)
    if sha256(stored[:-32]).digest() == stored[-32:]:
        return stored[:-32]
    result = make()
    store(path, result + sha256(result).digest())
    return result


def _read_own(path: Path) -> bytes:
    """The content of a file that this user owns and nobody else can write: it may be a script in a page, or run."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            own = status.st_uid == getattr(os, "getuid", int)() and not status.st_mode & OF_OTHERS
            return file.read() if own else b""
    except OSError:
        return b""


def store(path: Path, content: bytes) -> None:
    """Write a file that only this user can write; failures are ignored."""
    with suppress(OSError, SettingError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
        path.chmod(path.stat().st_mode & ~OF_OTHERS)
