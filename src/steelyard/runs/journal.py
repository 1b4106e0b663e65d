"""The journal of a run: appended to by one process, with one write and one fsync for all that wait at that moment.

A record is safe when `add` or `append` returns. Records that arrive while the disk is busy go together into the next
commit, so the delay is bounded by two commits, and many tasks share the price of one fsync.
A disk that refuses (full, broken, over quota) fails everybody who waits with the same error, and the file is cut back
to what is known to be safe; nothing is written after that, since a failed fsync says nothing about what it left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import defaultdict
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread

from steelyard.foundation.errors import RunError
from steelyard.foundation.files import free_bytes, reason, sync_file, sync_folder
from steelyard.runs.journal_lines import Lines

SYNC = getattr(os, "fdatasync", sync_file)  # macOS has none; elsewhere it is quicker than fsync
Waiter = tuple[bytes, asyncio.AbstractEventLoop, "asyncio.Future[None]"]


class Journal:
    """Appends lines durably; made from the `Lines` of the file once they have been read to the end."""

    def __init__(self, read: Lines) -> None:
        self.path: Path = read.path
        self.size = read.end
        self.commits = 0
        self._error: RunError | None = None
        self._writing = Lock()
        self._waiting: SimpleQueue[Waiter | None] = SimpleQueue()
        self._thread: Thread | None = None
        try:
            new = not self.path.exists()
            how = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(self.path, how, 0o666)
            if new:
                sync_folder(self.path.parent)
            if read.torn:
                os.ftruncate(self._file, self.size)
                sync_file(self._file)
        except OSError as error:
            raise RunError(f"cannot write {self.path}: {reason(error)}; make the run folder writable") from None
        if read.unended:
            self.append([b"\n"])

    async def add(self, line: bytes) -> None:
        """Return when the line is on the disk."""
        if self._error:
            raise self._error
        if self._thread is None:
            self._thread = Thread(target=self._commit_all, name="steelyard-journal", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._waiting.put((line, loop, future))
        await future

    def append(self, lines: list[bytes]) -> None:
        """Write lines and wait until they are on the disk."""
        content = b"".join(lines)
        with self._writing:
            if self._error:
                raise self._error
            try:
                written = 0
                while written < len(content):
                    written += os.write(self._file, memoryview(content)[written:])
                SYNC(self._file)
            except OSError as error:
                self._error = self._refused(error, len(content))
                raise self._error from None
            self.size += len(content)
            self.commits += 1

    def _refused(self, error: OSError, wanted: int) -> RunError:
        """Cut the file back to what is safe; should even that fail, the next process finds a torn end."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, self.size)
            sync_file(self._file)
        return RunError(
            f"cannot write {wanted:,} bytes to {self.path}: {reason(error)} ({free_bytes(self.path.parent)}); the "
            f"{self.size:,} bytes before them are safe: make room or mend the disk, and run the same command again"
        )

    def _commit_all(self) -> None:
        """The thread that commits: all that wait together, until it is told to end."""
        ended = False
        while not ended:
            items = [self._waiting.get()]
            items += [self._waiting.get_nowait() for _ in range(self._waiting.qsize())]
            batch = [item for item in items if item is not None]
            ended = len(batch) < len(items)
            if batch:
                self._commit(batch)

    def _commit(self, batch: list[Waiter]) -> None:
        error: Exception | None = None
        try:
            self.append([line for line, _, _ in batch])
        except Exception as refused:  # noqa: BLE001 - whatever it is, those who wait must hear of it
            error = refused
        by_loop: defaultdict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = defaultdict(list)
        for _, loop, future in batch:
            by_loop[loop].append(future)
        for loop, futures in by_loop.items():
            with contextlib.suppress(RuntimeError):  # that loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_settle, futures, error)

    def close(self) -> bool:
        """Commit what still waits and let go of the file; return whether all that was given is on the disk."""
        if self._thread:
            self._waiting.put(None)
            self._thread.join()
            self._thread = None
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        sound = self._error is None
        self._error = self._error or RunError(f"{self.path} is closed: open the run again to write to it")
        return sound


def _settle(futures: list[asyncio.Future[None]], error: Exception | None) -> None:
    for future in futures:
        if not future.done():
            if error:
                future.set_exception(error)
            else:
                future.set_result(None)
