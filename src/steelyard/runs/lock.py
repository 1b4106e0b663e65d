"""One process at a time writes to a run: a lock on the file `lock`, which says who holds it.

The operating system holds the lock (flock), so it ends with the process, however it ends; a file left behind by a
process that was killed is no lock, and the next process takes it over.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import RunError

TRIES, PAUSE = 5, 0.1  # a process that only looks holds the lock for a moment


class InUseError(RunError):
    """Another process writes now."""


class RunLock:
    """Holds the lock of a run folder from the moment it is made until `release`; `name` is that of its file."""

    def __init__(self, folder: Path, name: str = "lock") -> None:
        path = folder / name
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise RunError(_refused(path, error)) from None
        for attempt in range(TRIES):
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if attempt == TRIES - 1:
                    who = _words(_read(self._file))
                    os.close(self._file)
                    what = folder if name == "lock" else path
                    raise InUseError(f"{what} is in use by {who}: wait for it, or stop it first") from None
                time.sleep(PAUSE)
            except OSError as error:
                os.close(self._file)
                raise RunError(f"cannot lock {path}: {error.strerror or error}; put the run on a local disk") from None
        try:
            self._write({"pid": os.getpid(), "host": socket.gethostname()})
        except OSError as error:
            os.close(self._file)
            raise RunError(_refused(path, error)) from None

    def _write(self, content: dict[str, Any] | None) -> None:
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, json.dumps(content).encode() if content else b"", 0)

    def release(self) -> None:
        """Let the next process have the run."""
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


def _refused(path: Path, error: OSError) -> str:
    """Why a lock cannot be written, and what to do: a disk is also full when it has no room for another file."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    what = "make room ('df' and 'df -i' say what is full)" if full else "make the run folder writable"
    return f"cannot write {path}: {error.strerror or error}; {what}"


def _read(file: int) -> dict[str, Any]:
    try:
        content = json.loads(os.pread(file, 1000, 0))
    except ValueError:
        content = None
    return content if isinstance(content, dict) else {}


def _words(who: dict[str, Any]) -> str:
    return f"process {who.get('pid', 'unknown')} on {who.get('host', 'an unknown host')}"
