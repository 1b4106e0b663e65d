"""Bytes that take long to make and follow from something short: kept for the next time.

Files appear whole or not at all, with their hash at the end; a damaged one, or one of another user, is made again.
A folder that cannot be written is no reason to stop. It is `$XDG_CACHE_HOME/steelyard` or `~/.cache/steelyard`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from steelyard.foundation.errors import SettingError
from steelyard.foundation.files import write_atomically


def cache_folder() -> Path:
    """Where this user's results are kept."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "steelyard"
    try:
        return Path.home() / ".cache" / "steelyard"
    except RuntimeError:  # a user without a home, in a container: nothing is kept
        return Path(os.devnull) / "steelyard"


def kept(folder: Path, content: str, kind: str, make: Callable[[], bytes]) -> bytes:
    """What `make` returns, which follows from `content`, such as a drawing from its description."""
    place = folder / f"{sha256(content.encode()).hexdigest()[:32]}.{kind}"
    found = _ours(place)
    if sha256(found[:-32]).digest() == found[-32:]:
        return found[:-32]
    made = make()
    keep(place, made + sha256(made).digest())
    return made


def _ours(place: Path) -> bytes:
    """The content of a file, if nobody else wrote it: what is kept may end up as a script in a page."""
    try:
        with place.open("rb") as file:
            return file.read() if os.fstat(file.fileno()).st_uid == getattr(os, "getuid", int)() else b""
    except OSError:
        return b""


def keep(place: Path, content: bytes) -> None:
    """Write a file, if that can be done."""
    with suppress(OSError, SettingError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, content)
