"""A run: a folder that survives crashes of the processes that write to it.

manifest.json      the configuration of the run; a command with other settings is refused
questions.parquet  question, prompt, gold, domain
journal.jsonl      every sample, failure and score, in order of arrival; the source of truth
lock               the process that is writing
table.parquet      the journal as one long table, derived; table.json records its inputs

The journal and the lock are regular files, never links: their content stays in the folder.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.arguments import argument, choose_another
from steelyard.foundation.errors import RunError, SteelyardWarning
from steelyard.foundation.files import make_folder, remove_leftovers
from steelyard.runs.journal import Journal
from steelyard.runs.journal_lines import Lines, body_of, encode, heads, parsed_at
from steelyard.runs.lock import RunLock, check_no_others, check_no_store
from steelyard.runs.manifest import FILE, TABLE, Manifest
from steelyard.runs.parameters import merge_sources
from steelyard.runs.run_questions import read_questions, write_questions
from steelyard.runs.run_state import Head, Key, Marks, State, head_of
from steelyard.runs.seal import bytes_read, table_counts

JOURNAL = "journal.jsonl"
MANY = 1000  # records per commit


class Run:
    """An open run; as a context manager it releases its lock at the end."""

    def __init__(self, folder: Path, manifest: Manifest, questions: pl.DataFrame, lock: RunLock | None) -> None:
        self.folder = folder
        self.manifest = manifest
        self.questions = questions
        self.state = State()
        self._lock = lock
        self._journal: Journal | None = None
        self._cancelled: list[tuple[Head | None, dict[str, Any]]] = []  # tasks were cancelled, and records written
        lines = Lines(folder / JOURNAL)
        for _, head, record in heads(lines):
            self.state.see(head, record)
        self.torn = lines.torn
        if lock:
            remove_leftovers(folder)
            self._warn(lines)
            self._journal = Journal(lines)

    @classmethod
    def start(cls, folder: Path, manifest: Manifest, questions: pl.DataFrame) -> Run:
        """Create a run, or resume an existing one with the same settings; else raise what differs."""
        check_no_store(folder)
        make_folder(folder)
        if not (folder / FILE).exists():
            killed = (folder / "lock").exists()  # a process that held the lock may have left files
            check_no_others(folder, ("lock", "questions.parquet", "questions.json") if killed else ())
        lock = _locked(folder)
        try:
            existing = Manifest.read(folder) if (folder / FILE).exists() else None
            manifest = resumed_manifest(folder, existing, manifest) if existing else manifest
            changed = existing is not None and existing.questions_sha256 != manifest.questions_sha256
            write_questions(folder, questions, anew=changed)
            if manifest != existing:
                manifest.write(folder)
            return cls(folder, manifest, read_questions(folder), lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(cls, folder: Path, *, write: bool = False) -> Run:
        """Open an existing run to read, even while another process writes, or to write to it."""
        check_no_store(folder)
        manifest = Manifest.read(folder)
        lock = _locked(folder) if write else None
        try:
            return cls(folder, manifest, read_questions(folder), lock)
        except BaseException:
            if lock:
                lock.release()
            raise

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield every record in order; a torn record at the end is skipped."""
        path = self.folder / JOURNAL
        for offset, _, body in heads(Lines(path)):
            yield parsed_at(path, offset, body)

    def samples(self) -> Iterator[dict[str, Any]]:
        """Yield each valid sample once, in order of arrival; lazily, because a journal may be large."""
        seen, path = Marks(), self.folder / JOURNAL
        for offset, head, body in heads(Lines(path)):
            if head and head[0] == "sample" and seen.add(head[2]):
                yield parsed_at(path, offset, body)

    def unscored(self, verifier: str) -> Iterator[dict[str, Any]]:
        """Yield the samples that a verifier has not scored yet."""
        scored = self.state.scores[verifier].done
        for record in self.samples():
            if (record["question"], record["sample"]) not in scored:
                yield record

    def missing(self) -> Iterator[Key]:
        """Yield the samples that are still to be requested, including failed ones, question by question."""
        numbers = self.manifest.numbers
        for question in self.questions["question"]:
            for number in numbers:
                if (question, number) not in self.state.samples.done:
                    yield question, number

    def has(self, question: str, sample: int) -> bool:
        return (question, sample) in self.state.samples.done

    @property
    def requested(self) -> int:
        """The number of samples of the finished run."""
        rows = self.manifest.rows
        return self.questions.height * self.manifest.n * max(1, len(self.manifest.sources)) if rows is None else rows

    async def add(self, record: dict[str, Any]) -> None:
        """Add a record; returns when it is on disk. Concurrent calls share one fsync."""
        line = encode(record)
        head = head_of(body_of(line))
        try:
            await self._open_journal().add(line)
        except asyncio.CancelledError:
            self._cancelled.append((head, record))
            raise
        self.state.see(head, record)

    def add_now(self, records: Iterable[dict[str, Any]]) -> None:
        """Write records in one commit; returns when they are on disk."""
        lines = [(encode(record), record) for record in records]
        self._open_journal().append([line for line, _ in lines])
        for line, record in lines:
            self.state.see(head_of(body_of(line)), record)

    def add_all(self, records: Iterable[dict[str, Any]]) -> None:
        """Write any number of records, many per commit."""
        left = iter(records)
        while batch := list(islice(left, MANY)):
            self.add_now(batch)

    def write_table(self) -> Path:
        """Derive RUN/table.parquet from the journal unless it is up to date; return its path."""
        from steelyard.runs.derived_table import fresh_table

        return fresh_table(self.folder)

    def close(self) -> None:
        """Commit pending records and release the lock."""
        if self._journal:
            written = self._cancelled if self._journal.close() else []
            for head, record in written:
                self.state.see(head, record)
            self._cancelled = []
            self._journal = None
        if self._lock:
            self._lock.release()
            self._lock = None

    def _warn(self, lines: Lines) -> None:
        """Warn about a torn record, or about records lost since the table was made."""
        before = bytes_read(self.folder / TABLE)
        if lines.end + lines.torn < before:
            text = (
                f"is shorter than it was ({lines.end:,} bytes, once {before:,}): the missing records are requested "
                f"again, and the table is left as it is until then; stop now to keep {self.folder / TABLE}"
            )
        elif lines.torn:
            text = f"ended in an unfinished record of {lines.torn:,} bytes, never confirmed as saved: it is dropped"
        else:
            return
        warnings.warn(f"{lines.path} {text}", SteelyardWarning, stacklevel=4)

    def _open_journal(self) -> Journal:
        if self._journal is None:
            raise RunError(f"{self.folder} is not open for writing: open it with write=True")
        return self._journal

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _locked(folder: Path) -> RunLock:
    """Acquire the lock, which must not be a link: writing would follow it."""
    if (folder / "lock").is_symlink():
        raise RunError(f"{folder / 'lock'} is a link, and a run writes only to its own folder: remove the link")
    return RunLock(folder)


def resumed_manifest(folder: Path, existing: Manifest, requested: Manifest) -> Manifest:
    """Return the manifest of a resumed run; n may grow, other settings may change only if there are no samples."""
    if changes := existing.changes(requested):
        has_records = any(head for _, head, _ in heads(Lines(folder / JOURNAL)))
        if not table_counts(folder / TABLE).get("rows") and not has_records:
            return requested
        raise RunError(
            f"{folder} was made with other settings ({'; '.join(changes)}): repeat the command with those, "
            f"{choose_another('folder')}, or start another run from this one with {argument('fork', 'NEW')}"
        )
    sources = merge_sources(existing.sources, requested.sources)
    return replace(existing, n=requested.n, answers=requested.answers, sources=sources)
