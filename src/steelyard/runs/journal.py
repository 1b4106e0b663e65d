"""The append-only journal of a run: one process writes it, with group commits of one write and one fsync.

A record is on disk when `add` or `append` returns. Records that arrive while the disk is busy go together into the next
commit, so the delay is bounded by two commits, and many tasks share one fsync. If a write fails (disk full, broken,
over quota), all waiting tasks get the same error and the file is truncated to the last commit. Nothing is written after
that, because the state of the file after a failed fsync is undefined.
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

SYNC = getattr(os, "fdatasync", sync_file)  # not on macOS; elsewhere it is faster than fsync
Waiter = tuple[bytes, asyncio.AbstractEventLoop, "asyncio.Future[None]"]


class Journal:
    """Appends lines durably; constructed from the `Lines` of the file after they were read to the end."""

    def __init__(self, lines: Lines) -> None:
        self.path: Path = lines.path
        self.size = lines.end
        self.commits = 0
        self._error: RunError | None = None
        self._writing = Lock()
        self._waiting: SimpleQueue[Waiter | None] = SimpleQueue()
        self._thread: Thread | None = None
        try:
            new = not self.path.exists()
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(self.path, flags, 0o666)
            if new:
                sync_folder(self.path.parent)
            if lines.torn:
                os.ftruncate(self._file, self.size)
                sync_file(self._file)
        except OSError as error:
            raise RunError(f"cannot write {self.path}: {reason(error)}; make the run folder writable") from None
        if lines.unended:
            self.append([b"\n"])

    async def add(self, line: bytes) -> None:
        """Append a line; returns when it is on disk."""
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
        """Append lines and wait until they are on disk."""
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
                self._error = self._write_error(error, len(content))
                raise self._error from None
            self.size += len(content)
            self.commits += 1

    def _write_error(self, error: OSError, size: int) -> RunError:
        """Truncate the file to the last commit; if even that fails, the next process finds a torn record."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, self.size)
            sync_file(self._file)
        return RunError(
            f"cannot write {size:,} bytes to {self.path}: {reason(error)} ({free_bytes(self.path.parent)}); the "
            f"{self.size:,} bytes before them are safe: make room or fix the disk, and run the same command again"
        )

    def _commit_all(self) -> None:
        """Commit all waiting records together, in a loop; runs in a thread until `close`."""
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
        except Exception as failure:  # noqa: BLE001 - any error must reach the waiting tasks
            error = failure
        by_loop: defaultdict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = defaultdict(list)
        for _, loop, future in batch:
            by_loop[loop].append(future)
        for loop, futures in by_loop.items():
            with contextlib.suppress(RuntimeError):  # the loop is closed: nothing waits any more
                loop.call_soon_threadsafe(_settle, futures, error)

    def close(self) -> bool:
        """Commit waiting records and close the file; return whether every record is on disk."""
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
