"""The folder of a part while a worker processes it: locked so that it is done once, and renamed when finished."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from steelyard.foundation.errors import RunError
from steelyard.foundation.files import make_folder, reason, sync_folder
from steelyard.runs.lock import STORAGE, InUseError, RunLock, check_no_store
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.parted_run import PartedRun, RunPart

LOCKS = "locks"
PATIENCE = 60.0  # seconds: a worker on an unreachable machine may still finish
PAUSE = 0.5


@contextmanager
def locked_part(run: PartedRun, part: RunPart) -> Iterator[Path]:
    """Hold the lock of a part, and yield its current folder: the final one, or the one with its working name.

    If another worker holds the lock, wait for PATIENCE seconds, then raise: a part is never done twice.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            lock = RunLock(run.folder / LOCKS, part.name)
            break
        except InUseError:
            if time.monotonic() >= end:
                raise
            time.sleep(PAUSE)
    try:
        done = run.folder / part.name
        yield done if (done / MANIFEST).is_file() else working(run, part)
    finally:
        lock.release()


def working(run: PartedRun, part: RunPart) -> Path:
    """Return the folder of a part until it is finished."""
    return run.folder / f"{part.name}.working"


def finish(run: PartedRun, part: RunPart) -> None:
    """Rename a part to its final name, durably and in one step; the caller holds the lock."""
    if working(run, part).exists():
        try:
            working(run, part).rename(run.folder / part.name)
            sync_folder(run.folder)
        except OSError as error:
            raise RunError(f"cannot rename {working(run, part)}: {reason(error)}; {STORAGE}") from None


def folder_of(run: str | Path) -> Path:
    """Return the folder of a run in parts, created if missing; an object-store address is refused."""
    check_no_store(run)
    folder = make_folder(run)
    check_storage(folder)
    return folder


def check_storage(folder: Path) -> None:
    """Refuse a folder whose file system cannot rename a folder atomically or lock a file."""
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".storage-") as name:
            _check_lock(Path(name) / "lock")
            (Path(name) / "before").mkdir()
            (Path(name) / "before" / "file").touch()
            (Path(name) / "before").rename(Path(name) / "after")
            if not (Path(name) / "after" / "file").exists():
                raise OSError("a renamed folder lost its files")
    except OSError as error:
        raise RunError(f"{folder} cannot store a run in parts ({reason(error)}): {STORAGE}") from None


def _check_lock(path: Path) -> None:
    """Check that a lock cannot be acquired twice."""
    first, second = (os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666) for _ in range(2))
    try:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        raise OSError("a lock was acquired twice")
    finally:
        os.close(first)
        os.close(second)
