"""Inspect evaluation logs, .eval (a zip archive) or .json; epochs are samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.tables.grades import PARTIAL
from steelyard.tables.layout_rows import Marks, Row, add_marks, converted, mark, need, within
from steelyard.tables.messages import prompt_of, text_of
from steelyard.tables.recognition import Converted, Layout, Opened, Record
from steelyard.tables.sources.eval_archives import archived_log

ATTACHED = "attachment://"


class InspectLog(Layout):
    """Answers are read from the responses; a scorer that grades (C, I, P, N) gives labels, others scores."""

    name = "inspect-log"
    title = "Inspect log"
    description = (
        "Inspect, .eval or .json: id, epoch (epochs are samples), output, target as gold, scores as labels or scores"
    )

    def recognises(self, opened: Opened) -> bool:
        return any(path.suffix.lower() == ".eval" for path in opened.paths) or _is_log(opened.first)

    def read(self, opened: Opened) -> Converted:
        rows: list[Row] = []
        marks: list[Marks] = []
        seen: set[tuple[Any, ...]] = set()
        status: list[str] = []
        for part in opened.parts():
            header, samples = _log(part)
            task, llm = str(within(header, "eval", "task") or ""), within(header, "eval", "model")
            if header.get("status") not in (None, "success"):
                status.append(f"the log of {task} ended as {header['status']}")
            read: list[tuple[int, Row, Marks]] = []  # not the samples themselves: their events may be long
            for sample in samples:
                epoch = int(need(sample, "epoch", int, f"sample {_id(sample)!r}"))
                key = (task, str(llm), _id(sample), epoch)
                location = f"sample {_id(sample)!r}, epoch {epoch}"
                if key in seen:
                    raise TableError(f"{location} of {task} appears twice for {llm}: pass one log per task and LLM")
                seen.add(key)
                row = {**_row(sample, location), "domain": task or None, "llm": str(llm) if llm else None}
                read.append((epoch, row, _marks(sample)))
            read.sort(key=lambda entry: entry[0])
            rows += [row for _, row, _ in read]
            marks += [mark for _, _, mark in read]
        _read_halves_as_partial(marks)
        return converted(rows, "epochs", add_marks(rows, marks, "scorer"), last=status)


def _is_log(record: Record) -> bool:
    return {"version", "status", "eval"} <= record.keys() and isinstance(record["eval"], dict)


def _log(part: Opened) -> tuple[Record, Iterator[Record]]:
    """Return the header of a log and its samples."""
    if part.paths and part.paths[0].suffix.lower() == ".eval":
        return archived_log(part.paths[0])
    log = next(part.records(), {})
    if not _is_log(log):
        raise TableError(
            f"{part.paths[0].name if part.paths else 'this'} is not an Inspect log: pass only Inspect logs"
        )
    if not log.get("samples") or not isinstance(log["samples"], list):
        raise TableError("the log contains no samples: run the evaluation with log_samples")
    return log, iter(log["samples"])


def _id(sample: Record) -> str:
    return str(need(sample, "id", (int, str), "a sample"))


def _row(sample: Record, location: str) -> Row:
    listed = within(sample, "output", "choices")
    choices = listed if isinstance(listed, list) else []
    if len(choices) > 1:
        raise TableError(
            f"{location} has {len(choices)} choices, of which one was scored: use epochs instead of num_choices"
        )
    text = text_of(within(choices[0], "message", "content")) if choices else None
    prompt = prompt_of(sample.get("input"))
    reason = within(choices[0], "stop_reason") if choices else None
    target = sample.get("target")
    return {
        "question": _id(sample),
        "response": None if sample.get("error") else _attached(text, sample, location) or None,
        "finish": reason if isinstance(reason, str) else None,
        "gold": target if isinstance(target, list) else (str(target) if target not in (None, "") else None),
        "prompt": _attached(prompt, sample, location),
    }


def _attached(text: str | None, sample: Record, location: str) -> str | None:
    """Return a text, looked up in the attachments of its sample if it is a reference to one."""
    if text is None or not text.startswith(ATTACHED):
        return text
    attachment = within(sample, "attachments", text.removeprefix(ATTACHED))
    if not isinstance(attachment, str):
        raise TableError(
            f"{location} refers to an attachment that is not in the log: read the log as Inspect wrote it, because a "
            "conversion cannot restore it, or remove that sample"
        )
    return attachment


def _read_halves_as_partial(marks: list[Marks]) -> None:
    """Read the numbers 0, 0.5 and 1 of the only scorer as I, P and C, which Inspect converts to them."""
    values = {value for grades in marks for value in grades.values()}
    if len({name for grades in marks for name in grades}) == 1 and {0.5, 1.0} <= values <= {0.0, 0.5, 1.0, None}:
        for grades in marks:
            grades.update({name: PARTIAL for name, value in grades.items() if value == 0.5})


def _marks(sample: Record) -> Marks:
    """Return the marks by scorer; a scorer with several values has a column for each."""
    marks: Marks = {}
    scores = sample.get("scores")
    for name, score in scores.items() if isinstance(scores, dict) else ():
        value = within(score, "value")
        if isinstance(value, dict):
            marks |= {f"{name}.{key}": mark(entry) for key, entry in value.items()}
        else:
            marks[name] = mark(value)
    return marks
