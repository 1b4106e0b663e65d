"""A folder of feedback: requests that the gateway has voted on, and the labels that clients sent.

feedback.json      settings that all requests share: the score and the kind of answers
journal.jsonl      every request and every label, in order of arrival; the source of truth
lock               the process that is writing
table.parquet      the labelled requests as one long table, derived; table.json records its inputs

A request is a record with its distinct answers and, for every sample, the index of its answer. `owner` identifies the
key that sent the request; it is absent if the server has no keys. A label says for each answer whether it is correct;
of several labels the last one counts.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Callable, Collection
from pathlib import Path

from steelyard.foundation.errors import RunError, SteelyardWarning
from steelyard.foundation.files import make_folder, remove_leftovers
from steelyard.runs.feedback_journal import JOURNAL, Record, checked_records, trim
from steelyard.runs.feedback_settings import FeedbackSettings, ensure_settings, is_feedback
from steelyard.runs.journal import Journal
from steelyard.runs.journal_lines import Lines, encode
from steelyard.runs.lock import RunLock

MAX_BYTES = 2**28  # of a journal, not counting labelled requests


class FeedbackFolder:
    """An open folder with a single writer. Its journal has at most `max_bytes`, unless labels need more."""

    def __init__(
        self, folder: Path, settings: FeedbackSettings, see: Callable[[int, Record], None], max_bytes: int = MAX_BYTES
    ) -> None:
        """Open or create a folder; `see` is called with the offset and content of every existing record."""
        self.folder, self.max_bytes = make_folder(folder), max_bytes
        _check_own(folder)
        self._lock = RunLock(folder)
        try:
            ensure_settings(folder, settings)
            remove_leftovers(folder)
            lines = Lines(folder / JOURNAL)
            if lines.path.is_file() and lines.path.stat().st_size > max_bytes:
                trim(lines.path, max_bytes // 2)
            for offset, record in checked_records(lines):
                see(offset, record)
            if lines.torn:
                warnings.warn(
                    f"{lines.path} ended in an unfinished record of {lines.torn:,} bytes, never confirmed as "
                    "saved: it is dropped", SteelyardWarning, stacklevel=2,
                )  # fmt: skip
            self._journal = Journal(lines)
            self._end = self._journal.size
            self._longest = max(max_bytes, self._end + max_bytes // 2)  # a longer journal is trimmed
            self._writing = 0
            self._offsets = asyncio.Lock()  # while held, no record moves
            self._open, self._settled = asyncio.Event(), asyncio.Event()  # writing is allowed; no write is in progress
            self._open.set()
            self._settled.set()
        except BaseException:
            self._lock.release()
            raise

    def add(self, record: Record, placed: Callable[[int], None] = lambda _: None) -> asyncio.Task[int]:
        """Start writing a record; the task returns its offset when written, and `placed` gets it before it can move."""
        return asyncio.create_task(self._add(encode(record), placed))

    async def _add(self, line: bytes, placed: Callable[[int], None]) -> int:
        while not self._open.is_set():
            await self._open.wait()
        offset = self._end
        self._end += len(line)
        self._writing += 1
        self._settled.clear()
        try:
            await self._journal.add(line)  # queues it before it waits, so offsets follow the order of the lines
            placed(offset)
        finally:
            self._writing -= 1
            if not self._writing:
                self._settled.set()
        return offset

    @property
    def is_long(self) -> bool:
        """Whether the journal has to be trimmed."""
        return self._end > self._longest

    async def trim(self, busy: Collection[str], moved: Callable[[dict[str, int]], None]) -> None:
        """Trim the journal while writing is paused; `moved` gets the new offsets before any read."""
        async with self._offsets:
            self._open.clear()
            try:
                await self._settled.wait()
                self._longest = 2 * self._end  # if trimming fails, do not retry at once
                offsets = await asyncio.to_thread(self._trim, set(busy))
                self._longest = max(self.max_bytes, self._journal.size + self.max_bytes // 2)
                moved(offsets)
            finally:
                self._end = self._journal.size
                self._open.set()

    def _trim(self, busy: Collection[str]) -> dict[str, int]:
        self._journal.close()
        lines = Lines(self.folder / JOURNAL)
        try:
            return trim(lines.path, self.max_bytes // 2, busy)
        finally:
            lines.end = lines.path.stat().st_size
            self._journal = Journal(lines)

    async def read(self, offset: Callable[[], int]) -> Record:
        """Return the record at an offset; `offset` is called once records can no longer move."""
        async with self._offsets:
            return await asyncio.to_thread(self._at, offset())

    def _at(self, offset: int) -> Record:
        with (self.folder / JOURNAL).open("rb") as file:
            file.seek(offset)
            line = file.readline()
        record: Record = json.loads(line[line.index(b"{") :])
        return record

    def close(self) -> None:
        """Commit pending records and release the lock."""
        self._journal.close()
        self._lock.release()


def _check_own(folder: Path) -> None:
    """Refuse a folder with other files; leftovers of a killed process are fine."""
    if (folder / "lock").is_symlink():
        raise RunError(f"{folder / 'lock'} is a link, and feedback must stay in its own folder: remove the link")
    other = [path.name for path in folder.iterdir() if path.name != "lock" and not path.name.startswith(".")]
    if other and not is_feedback(folder):
        raise RunError(f"{folder} contains other files ({sorted(other)[0]}, ..): choose a new folder with --feedback")
