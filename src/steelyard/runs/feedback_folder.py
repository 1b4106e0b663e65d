"""A folder of feedback: requests that the gateway has voted on, and what people said about them.

feedback.json      what the requests have in common: the score, the kind of answers, whether texts are kept
journal.jsonl      every request and every label, in the order they came; the truth
lock               who writes now
table.parquet      the labelled requests as one long table, derived; table.json says from what

A request is a record with its answers, which stand for groups of equivalent ones, and for every sample the place of its
answer among them. Its `owner` identifies the key that sent it; there is none where the server has no keys. A label says
for each of these answers whether it is correct; of several labels the last counts.
"""

from __future__ import annotations

import asyncio
import json
import math
import shlex
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from steelyard.answers.extract import AUTO, KINDS
from steelyard.foundation.errors import RunError, SteelyardWarning
from steelyard.foundation.files import make_folder, remove_leftovers, write_atomically
from steelyard.runs.feedback_trim import trim
from steelyard.runs.journal import Journal
from steelyard.runs.journal_lines import Lines, encode
from steelyard.runs.lock import RunLock

FILE = "feedback.json"
JOURNAL = "journal.jsonl"
FORMAT = "steelyard-feedback"
VERSION = 1
REQUEST, LABEL = "request", "label"
LEARNED = ("calibrated", "committee")  # methods whose confidence has always been a probability
MOST = 2**28  # bytes of a journal, but for what is labelled

Record = dict[str, Any]


@dataclass(frozen=True)
class FeedbackSettings:
    """What all requests of a folder have in common: the name of the score, and the kind of the answers."""

    score: str
    answers: str


class FeedbackFolder:
    """An open folder; only one process writes to it. Its journal has `most` bytes, unless labels need more."""

    def __init__(
        self, folder: Path, settings: FeedbackSettings, see: Callable[[int, Record], None], most: int = MOST
    ) -> None:
        """Open a folder, or make one; `see` is told the place and the content of every record that is there."""
        self.folder, self.most = make_folder(folder), most
        _check_own(folder)
        self._lock = RunLock(folder)
        try:
            _agreed(folder, settings)
            remove_leftovers(folder)
            lines = Lines(folder / JOURNAL)
            if lines.path.is_file() and lines.path.stat().st_size > most:
                trim(lines.path, most // 2)
            for offset, record in _records(lines):
                see(offset, record)
            if lines.torn:
                warnings.warn(
                    f"{lines.path} ended in an unfinished record of {lines.torn:,} bytes, which nobody was told is "
                    "safe: it is dropped", SteelyardWarning, stacklevel=2,
                )  # fmt: skip
            self._journal = Journal(lines)
            self._end = self._journal.size
            self._longest = max(most, self._end + most // 2)  # from which on it is trimmed
            self._writing = 0
            self._whole = asyncio.Lock()  # whoever has it finds every record at its place
            self._open, self._settled = asyncio.Event(), asyncio.Event()  # one may write; nothing is being written
            self._open.set()
            self._settled.set()
        except BaseException:
            self._lock.release()
            raise

    def add(self, record: Record, placed: Callable[[int], None] = lambda _: None) -> asyncio.Task[int]:
        """Begin to write a record; the task returns its place when it is on the disk.

        `placed` is told the place before it can change.
        """
        return asyncio.create_task(self._add(encode(record), placed))

    async def _add(self, line: bytes, placed: Callable[[int], None]) -> int:
        while not self._open.is_set():
            await self._open.wait()
        offset = self._end
        self._end += len(line)
        self._writing += 1
        self._settled.clear()
        try:
            await self._journal.add(line)  # which queues it before it waits: places are in the order of the lines
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
        """Trim the journal while nobody writes; `moved` is told where requests stand now, before anybody reads."""
        async with self._whole:
            self._open.clear()
            try:
                await self._settled.wait()
                self._longest = 2 * self._end  # unless it becomes shorter
                places = await asyncio.to_thread(self._trimmed, set(busy))
                self._longest = max(self.most, self._journal.size + self.most // 2)
                moved(places)
            finally:
                self._end = self._journal.size
                self._open.set()

    def _trimmed(self, busy: Collection[str]) -> dict[str, int]:
        self._journal.close()
        lines = Lines(self.folder / JOURNAL)
        try:
            return trim(lines.path, self.most // 2, busy)
        finally:
            lines.end = lines.path.stat().st_size
            self._journal = Journal(lines)

    async def read(self, place: Callable[[], int]) -> Record:
        """The record at a place, which is asked for when nothing can move any more."""
        async with self._whole:
            return await asyncio.to_thread(self._at, place())

    def _at(self, offset: int) -> Record:
        """The record at a place."""
        with (self.folder / JOURNAL).open("rb") as file:
            file.seek(offset)
            line = file.readline()
        found: Record = json.loads(line[line.index(b"{") :])
        return found

    def close(self) -> None:
        """Commit what still waits, and let the next process have the folder."""
        self._journal.close()
        self._lock.release()


def is_feedback(folder: Path) -> bool:
    """Whether a folder is one of feedback."""
    return (folder / FILE).is_file()


def read_settings(folder: Path) -> FeedbackSettings:
    """What a folder says of itself."""
    path = folder / FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r:.40}, not {FORMAT!r}")
        if content["version"] > VERSION:
            raise RunError(f"{folder} was made by a newer Steelyard: install that one")
        found = FeedbackSettings(**{each.name: content[each.name] for each in fields(FeedbackSettings)})
        if not all(isinstance(value, str) and value for value in vars(found).values()):
            raise ValueError("a setting is no text")
        return found
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(f"{path} is damaged ({error!s:.100}): restore it, or keep feedback elsewhere") from None


def records(folder: Path) -> Iterator[Record]:
    """Every record of a folder, in the order they came; a torn one at the end is passed over."""
    for _, record in _records(Lines(folder / JOURNAL)):
        yield record


def confidence_in(record: Record) -> float | None:
    """The probability that the verdict of a request is correct; None where the vote had none.

    Records without a share are older: there the confidence of a method that learns no probability was a share.
    """
    learned = "share" in record or record.get("method") in LEARNED
    confidence: float | None = record["confidence"] if learned else None
    return confidence


def _records(lines: Lines) -> Iterator[tuple[int, Record]]:
    for number, (offset, body) in enumerate(lines, 1):
        try:
            record = json.loads(body)
            _check(record)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise RunError(
                f"{lines.path}, line {number} is no record of feedback ({error!s:.100}): take the line out with "
                f"'sed -i {number}d {shlex.quote(str(lines.path))}' and run the same command again"
            ) from None
        yield offset, record


def _check(record: Record) -> None:
    """Refuse what the gateway does not write: a checksum says that a line is whole, not who wrote it."""
    if not isinstance(record["question"], str):
        raise TypeError("it names no request")
    if record["kind"] == LABEL:
        _need(isinstance(record["correct"], list) and all(type(each) is bool for each in record["correct"]), "correct")
        _need(type(record["verdict"]) is bool, "verdict")
        return
    _need(record["kind"] == REQUEST, "kind")
    answers, verdict = record["answers"], record["verdict"]
    _need(isinstance(answers, list) and all(isinstance(each, str) for each in answers), "answers")
    _need(verdict is None or (type(verdict) is int and 0 <= verdict < len(answers)), "verdict")
    _need(record["confidence"] is None or _is_share(record["confidence"]), "confidence")
    _need(isinstance(record["policy"], str), "policy")
    for sample in record["samples"]:
        code, score, tokens = sample["answer"], sample["score"], sample["tokens"]
        _need(type(sample["sample"]) is int and 0 <= sample["sample"] < 2**31, "sample")
        _need(code is None or (type(code) is int and 0 <= code < len(answers)), "answer")
        _need(score is None or _is_share(score), "score")
        _need(tokens is None or (type(tokens) is int and 0 <= tokens < 2**62), "tokens")
        _need(all(isinstance(sample.get(name), str | None) for name in ("llm", "response")), "llm")
    _need(isinstance(record.get("prompt"), str | None), "prompt")
    _need(isinstance(record.get("owner"), str | None), "owner")
    _need(record.get("answers_kind") is None or record["answers_kind"] in KINDS, "answers_kind")


def _need(holds: bool, name: str) -> None:
    if not holds:
        raise ValueError(f"its {name} cannot be")


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value <= 1


def _agreed(folder: Path, settings: FeedbackSettings) -> None:
    """Write what the requests have in common, or refuse others than those that are there."""
    if not is_feedback(folder):
        content = {"format": FORMAT, "version": VERSION, **asdict(settings)}
        write_atomically(folder / FILE, (json.dumps(content, indent=2) + "\n").encode(), durable=True, follow=False)
        return
    there = read_settings(folder)
    for name, value in asdict(there).items():
        if name == "answers" and AUTO in (value, settings.answers):
            continue  # one of them leaves the kind to the question
        if value != asdict(settings)[name]:
            raise RunError(
                f"{folder} holds feedback with {name} {value!r}, and this server has {asdict(settings)[name]!r}: give "
                "it another folder with --feedback"
            )


def _check_own(folder: Path) -> None:
    """Feedback needs a folder of its own; what a killed start left behind does no harm."""
    if (folder / "lock").is_symlink():
        raise RunError(f"{folder / 'lock'} is a link, and feedback stays in its own folder: remove the link")
    strange = [each.name for each in folder.iterdir() if each.name != "lock" and not each.name.startswith(".")]
    if strange and not is_feedback(folder):
        raise RunError(f"{folder} holds other files ({sorted(strange)[0]}, ..): give --feedback a new folder")
