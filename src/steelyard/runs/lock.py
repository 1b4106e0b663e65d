"""A lock for the single writer of a run: an flock on the file `lock`, which names the process that holds it.

Object stores have no such locks, and a run cannot be stored there.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import socket
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from steelyard.foundation.arguments import choose_another
from steelyard.foundation.errors import RunError
from steelyard.foundation.files import address_of

TRIES, PAUSE = 5, 0.1  # `holder` holds the lock for a moment
STORAGE = (
    "a run needs a file system with rename and flock that all machines share, such as NFS 4 or Lustre with -o flock"
)


class InUseError(RunError):
    """Another process is writing."""


class RunLock:
    """Holds the lock of a run folder from construction until `release`; `name` is the name of the file."""

    def __init__(self, folder: Path, name: str = "lock") -> None:
        path = folder / name
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise RunError(_write_error(path, error)) from None
        for attempt in range(TRIES):
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if attempt == TRIES - 1:
                    owner = _describe(_read(self._file))
                    os.close(self._file)
                    target = folder if name == "lock" else path
                    raise InUseError(f"{target} is in use by {owner}: wait for it, or stop it first") from None
                time.sleep(PAUSE)
            except OSError as error:
                os.close(self._file)
                raise RunError(f"cannot lock {path}: {error.strerror or error}; put the run on a local disk") from None
        try:
            self._write({"pid": os.getpid(), "host": socket.gethostname()})
        except OSError as error:
            os.close(self._file)
            raise RunError(_write_error(path, error)) from None

    def _write(self, content: dict[str, Any] | None) -> None:
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, json.dumps(content).encode() if content else b"", 0)

    def release(self) -> None:
        if self._file >= 0:
            self._write(None)
            os.close(self._file)
            self._file = -1


def holder(folder: Path, name: str = "lock") -> dict[str, Any] | None:
    """Return pid and host of the process that writes to a run, or None."""
    try:
        file = os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(file)
    except OSError:
        return None
    finally:
        os.close(file)
    return None


def _write_error(path: Path, error: OSError) -> str:
    """Why the lock cannot be written, and the fix; a disk without free inodes is also full."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    fix = "make room ('df' and 'df -i' show what is full)" if full else "make the run folder writable"
    return f"cannot write {path}: {error.strerror or error}; {fix}"


def _read(file: int) -> dict[str, Any]:
    try:
        content = json.loads(os.pread(file, 1000, 0))
    except ValueError:
        content = None
    return content if isinstance(content, dict) else {}


def _describe(owner: dict[str, Any]) -> str:
    return f"process {owner.get('pid', 'unknown')} on {owner.get('host', 'an unknown host')}"


def check_no_others(folder: Path, ours: Collection[str]) -> None:
    """Refuse a folder with files other than `ours`; hidden files, as a killed process leaves them, are fine."""
    others = sorted(path.name for path in folder.iterdir() if path.name not in ours and not path.name.startswith("."))
    if others:
        raise RunError(f"{folder} contains other files ({others[0]}, ..): {choose_another('folder')}")


def check_no_store(run: str | Path) -> None:
    """Refuse an object-store address as the folder of a run."""
    if re.match(r"\w+:/", str(run)):
        shown = address_of(run) or run
        raise RunError(
            f"{shown} is not a folder of a file system: {STORAGE}; only tables can be stored there: name such a folder"
        )
