"""A run: a folder that survives whatever happens to the processes that fill it.

manifest.json      what the run is; a command with other settings is refused
questions.parquet  question, prompt, gold, domain
journal.jsonl      every sample, failure and score, in the order they came; the truth
lock               who writes now
table.parquet      the journal as one long table, derived; table.json says from what

The journal and the lock are files, never links: what is written to them stays in the folder.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import RunError, SteelyardWarning
from steelyard.foundation.files import make_folder, remove_leftovers
from steelyard.runs.file_system import check_no_store
from steelyard.runs.journal import Journal
from steelyard.runs.journal_lines import Lines, body_of, encode
from steelyard.runs.lock import RunLock
from steelyard.runs.losses import bytes_read, held
from steelyard.runs.manifest import FILE, Manifest
from steelyard.runs.records import heads, parsed_at
from steelyard.runs.run_questions import read_questions, write_questions
from steelyard.runs.run_sources import joined
from steelyard.runs.state import Head, Key, Marks, State, head_of

JOURNAL = "journal.jsonl"
TABLE = "table.parquet"


class Run:
    """An open run; as a context manager it lets go of its lock at the end."""

    def __init__(self, folder: Path, manifest: Manifest, questions: pl.DataFrame, lock: RunLock | None) -> None:
        self.folder = folder
        self.manifest = manifest
        self.questions = questions
        self.state = State()
        self._lock = lock
        self._journal: Journal | None = None
        self._cancelled: list[tuple[Head | None, dict[str, Any]]] = []  # their tasks, not they: they will be written
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
        """Make a run, or go on with the one that is there if it is the same; otherwise say what differs."""
        check_no_store(folder)
        make_folder(folder)
        if not (folder / FILE).exists():
            _check_empty(folder)
        lock = _locked(folder)
        try:
            there = Manifest.read(folder) if (folder / FILE).exists() else None
            manifest = continued(folder, there, manifest) if there else manifest
            others = there is not None and there.questions_sha256 != manifest.questions_sha256
            write_questions(folder, questions, anew=others)
            if manifest != there:
                manifest.write(folder)
            return cls(folder, manifest, read_questions(folder), lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(cls, folder: Path, *, write: bool = False) -> Run:
        """Open an existing run: to read, also while another process writes, or to write to it."""
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
        """Every record in order; a torn one at the end is passed over."""
        path = self.folder / JOURNAL
        for offset, _, body in heads(Lines(path)):
            yield parsed_at(path, offset, body)

    def samples(self) -> Iterator[dict[str, Any]]:
        """The samples that stand, each once, in the order they came; one at a time, as a journal may be large."""
        seen, path = Marks(), self.folder / JOURNAL
        for offset, head, body in heads(Lines(path)):
            if head and head[0] == "sample" and seen.add(head[2]):
                yield parsed_at(path, offset, body)

    def unscored(self, verifier: str) -> Iterator[dict[str, Any]]:
        """The samples that a verifier has not scored yet."""
        scored = self.state.scores[verifier].done
        for record in self.samples():
            if (record["question"], record["sample"]) not in scored:
                yield record

    def missing(self) -> Iterator[Key]:
        """The samples that are still to be asked for, failed ones too: question by question, made as they are taken."""
        numbers = self.manifest.numbers
        for question in self.questions["question"]:
            for number in numbers:
                if (question, number) not in self.state.samples.done:
                    yield question, number

    def has(self, question: str, sample: int) -> bool:
        """Whether a sample is there."""
        return (question, sample) in self.state.samples.done

    @property
    def wanted(self) -> int:
        """How many samples the finished run has."""
        rows = self.manifest.rows
        return self.questions.height * self.manifest.n * max(1, len(self.manifest.sources)) if rows is None else rows

    async def add(self, record: dict[str, Any]) -> None:
        """Return when a record is on the disk; tasks that wait at the same time share the price."""
        line = encode(record)
        head = head_of(body_of(line))
        try:
            await self._open_journal().add(line)
        except asyncio.CancelledError:
            self._cancelled.append((head, record))
            raise
        self.state.see(head, record)

    def add_now(self, records: Iterable[dict[str, Any]]) -> None:
        """Write records at once, and return when they are on the disk."""
        lines = [(encode(record), record) for record in records]
        self._open_journal().append([line for line, _ in lines])
        for line, record in lines:
            self.state.see(head_of(body_of(line)), record)

    def write_table(self) -> Path:
        """Derive RUN/table.parquet from the journal, unless the one that is there is as new; return where it is."""
        from steelyard.runs.derived_table import fresh_table

        return fresh_table(self.folder)

    def close(self) -> None:
        """Commit what still waits, and let the next process have the run."""
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
        """Say what is mended, or has gone since the table was made."""
        had = bytes_read(self.folder / TABLE)
        if lines.end + lines.torn < had:
            text = (
                f"is shorter than it was ({lines.end:,} bytes, once {had:,}): what is gone is asked again, and the "
                f"table stays as it is until there is as much; stop now to keep to {self.folder / TABLE}"
            )
        elif lines.torn:
            text = (
                f"ended in an unfinished record of {lines.torn:,} bytes, which nobody was told is safe: it is dropped"
            )
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
    """Take the lock; one that is a link would be written through."""
    if (folder / "lock").is_symlink():
        raise RunError(f"{folder / 'lock'} is a link, and a run writes into its own folder only: remove the link")
    return RunLock(folder)


def _check_empty(folder: Path) -> None:
    """A new run needs a folder of its own; what a killed start left behind, after it took the lock, does no harm."""
    ours = ("lock", "questions.parquet", "questions.json") if (folder / "lock").exists() else ()
    strange = [entry.name for entry in folder.iterdir() if entry.name not in ours and not entry.name.startswith(".")]
    if strange:
        raise RunError(f"{folder} holds other files ({sorted(strange)[0]}, ..): give the run a new folder with -o")


def continued(folder: Path, there: Manifest, wanted: Manifest) -> Manifest:
    """The manifest to go on with; more samples per question are welcome, other settings only if nothing was drawn."""
    if changes := there.changes(wanted):
        if not held(folder / TABLE).get("rows") and not any(head for _, head, _ in heads(Lines(folder / JOURNAL))):
            return wanted
        raise RunError(
            f"{folder} was made with other settings ({'; '.join(changes)}): repeat the command with those, give it "
            "another folder with -o, or add --fork NEW to start a run beside this one"
        )
    return replace(there, n=wanted.n, answers=wanted.answers, sources=joined(there.sources, wanted.sources))
