"""The folder of a part while it is worked on: locked, so that it is done once, and renamed when it is finished."""

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
from steelyard.runs.file_system import STORAGE, check_no_store
from steelyard.runs.lock import InUseError, RunLock
from steelyard.runs.manifest import FILE as MANIFEST
from steelyard.runs.parted_run import PartedRun, RunPart

LOCKS = "locks"
PATIENCE = 60.0  # seconds: a worker whose machine was lost to the others may still end
PAUSE = 0.5


@contextmanager
def taken(run: PartedRun, part: RunPart) -> Iterator[Path]:
    """Hold the lock of a part, and yield the folder it lies in now: its own, or the one under its working name.

    A part that another worker holds is waited for, and then reported: it is never done twice.
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
    """Where a part lies until it is finished."""
    return run.folder / f"{part.name}.working"


def finish(run: PartedRun, part: RunPart) -> None:
    """Give a part its name, in one step that survives a power cut; whoever does it holds the lock."""
    if working(run, part).exists():
        try:
            working(run, part).rename(run.folder / part.name)
            sync_folder(run.folder)
        except OSError as error:
            raise RunError(f"cannot rename {working(run, part)}: {reason(error)}; {STORAGE}") from None


def folder_of(run: str | Path) -> Path:
    """The folder of a run in parts, made if it is not there; an address of an object store is refused."""
    check_no_store(run)
    folder = make_folder(run)
    check_storage(folder)
    return folder


def check_storage(folder: Path) -> None:
    """Refuse a folder whose file system cannot rename a folder in one step, or lock a file."""
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".storage-") as place:
            _check_lock(Path(place) / "lock")
            (Path(place) / "before").mkdir()
            (Path(place) / "before" / "file").touch()
            (Path(place) / "before").rename(Path(place) / "after")
            if not (Path(place) / "after" / "file").exists():
                raise OSError("a renamed folder has lost its files")
    except OSError as error:
        raise RunError(f"{folder} cannot hold a run in parts ({reason(error)}): {STORAGE}") from None


def _check_lock(path: Path) -> None:
    """Take a lock, and see that it cannot be taken again."""
    first, second = (os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666) for _ in range(2))
    try:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        raise OSError("a lock was given twice")
    finally:
        os.close(first)
        os.close(second)
