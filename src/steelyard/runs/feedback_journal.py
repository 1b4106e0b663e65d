"""The journal of a feedback folder: requests and labels, validated as they are read back, and trimmed if too long.

The oldest requests without a label are dropped first. Every labelled request is kept with its last label, the one that
counts, whatever their size. The shorter journal is on disk before it replaces the longer one, so that a crash leaves
one of the two, and open readers keep reading the old file.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from steelyard.answers.extract import KINDS
from steelyard.foundation.errors import RunError
from steelyard.foundation.files import replacing
from steelyard.runs.journal_lines import Lines

JOURNAL = "journal.jsonl"
REQUEST, LABEL = "request", "label"
LEARNED = ("calibrated", "committee")  # methods whose confidence was a probability in every version

Record = dict[str, Any]
_HEAD = re.compile(rb'\{"kind":"(request|label)","question":"([^"\\]*)"')


def records(folder: Path) -> Iterator[Record]:
    """Yield every record of a folder in order of arrival; a torn record at the end is skipped."""
    for _, record in checked_records(Lines(folder / JOURNAL)):
        yield record


def confidence_in(record: Record) -> float | None:
    """Return the probability that the verdict of a request is correct, or None if the vote had none.

    In older records, those without `share`, the confidence of a method that learns no probability was a vote share.
    """
    learned = "share" in record or record.get("method") in LEARNED
    confidence: float | None = record["confidence"] if learned else None
    return confidence


def checked_records(lines: Lines) -> Iterator[tuple[int, Record]]:
    """Yield offset and content of every record; refuse one that the gateway never writes."""
    for number, (offset, body) in enumerate(lines, 1):
        try:
            record = json.loads(body)
            _check(record)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise RunError(
                f"{lines.path}, line {number} is not a feedback record ({error!s:.100}): delete the line with "
                f"'sed -i {number}d {shlex.quote(str(lines.path))}' and run the same command again"
            ) from None
        yield offset, record


def _check(record: Record) -> None:
    """Refuse records that the gateway never writes: a checksum proves that a line is intact, not who wrote it."""
    if not isinstance(record["question"], str):
        raise TypeError("it does not name a request")
    if record["kind"] == LABEL:
        _need(
            isinstance(record["correct"], list) and all(type(value) is bool for value in record["correct"]), "correct"
        )
        _need(type(record["verdict"]) is bool, "verdict")
        return
    _need(record["kind"] == REQUEST, "kind")
    answers, verdict = record["answers"], record["verdict"]
    _need(isinstance(answers, list) and all(isinstance(answer, str) for answer in answers), "answers")
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
        raise ValueError(f"its {name} is invalid")


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value <= 1


class Line(NamedTuple):
    """A record: its offset, the length of its line, whether it is a label, and its request (empty if unknown)."""

    offset: int
    size: int
    label: bool
    name: str


def trim(path: Path, max_bytes: int, busy: Collection[str] = ()) -> dict[str, int]:
    """Trim a journal to `max_bytes` if labels allow it; return the offsets of the remaining requests.

    `busy` are requests that are being labelled now: they are kept too.
    """
    lines = _lines(path)
    last = {line.name: line for line in lines if line.label}
    needed = {*last, *busy, ""}
    retained = {line for line in lines if (last[line.name] is line if line.label else line.name in needed)}
    room = max_bytes - sum(line.size for line in retained)
    for line in reversed(lines):
        if not line.label and line not in retained:
            room -= line.size
            if room < 0:
                break
            retained.add(line)
    offsets, end = dict[str, int](), 0
    with replacing(path, durable=True, follow=False) as temporary, temporary.open("wb") as new, path.open("rb") as old:
        for line in lines:
            if line in retained:
                old.seek(line.offset)
                if not line.label:
                    offsets[line.name] = end
                end += new.write(old.read(line.size).removesuffix(b"\n") + b"\n")  # the last line may lack its newline
    return offsets


def _lines(path: Path) -> list[Line]:
    """The lines of a journal, without a torn one at the end."""
    journal = Lines(path)
    starts = [(offset, _HEAD.match(body)) for offset, body in journal]
    ends = [offset for offset, _ in starts[1:]] + [journal.end]
    return [
        Line(offset, end - offset, bool(head and head[1] == b"label"), head[2].decode() if head else "")
        for (offset, head), end in zip(starts, ends, strict=True)
    ]
