"""Records as they are read back: a line whose checksum is right may still be none of ours, and is named by its number.

A journal may have been written by another program, or by somebody who means harm. What is used of a record is checked
where it is used: its front when the run is opened, the rest when it is read, so that millions of lines stay quick.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import RunError
from steelyard.runs.journal_lines import Lines
from steelyard.runs.parameters import Abilities
from steelyard.runs.state import SUCCESS, Head, head_of

Record = dict[str, Any]
TEXTS = ("response", "finish", "reason", "model", "source")
WHOLE = ("tokens", "attempts", "seed")
NEEDED = {"sample": b'"response":', "score": b'"steps":'}  # within a text the quotes would be escaped
LARGEST = 2**63  # whole numbers below it fit a table


def heads(lines: Lines) -> Iterator[tuple[int, Head | None, bytes | Record]]:
    """Yield offset, front and content of every record: parsed for failures and notes, as it stands for the others."""
    for number, (offset, body) in enumerate(lines, 1):
        try:
            head = head_of(body)
            if head and head[0] in NEEDED and NEEDED[head[0]] not in body:
                raise ValueError(f"it has no {NEEDED[head[0]].decode()[1:-2]}")
            record = body if head and head[0] in SUCCESS else parsed(body)
        except (ValueError, RecursionError) as error:
            raise _not_ours(lines.path, number, error) from None
        yield offset, head, record


def parsed_at(path: Path, offset: int, body: bytes | Record) -> Record:
    """Return a record that stands at an offset of a journal, or name its line."""
    if not isinstance(body, bytes):
        return body
    try:
        return parsed(body)
    except (ValueError, RecursionError) as error:
        with path.open("rb") as file:
            number = 1 + sum(1 for line in iter(file.readline, b"") if file.tell() <= offset)
        raise _not_ours(path, number, error) from None


def parsed(body: bytes) -> Record:
    """Return a record with everything in it of its kind; a ValueError says what is not.

    >>> parsed(b'{"kind":"sample","tokens":"many"}')
    Traceback (most recent call last):
    ValueError: tokens is 'many'
    """
    record: Record = json.loads(body, parse_constant=_no_constant)
    for name in TEXTS:
        _check(name, record.get(name), isinstance(record.get(name), str | None))
    for name in WHOLE:
        value = record.get(name)
        _check(name, value, value is None or (type(value) is int and -LARGEST <= value < LARGEST))
    _check("logprob", record.get("logprob"), record.get("logprob") is None or _finite(record["logprob"]))
    steps = record.get("steps")
    _check("steps", steps, steps is None or (isinstance(steps, list) and all(s is None or _finite(s) for s in steps)))
    if record.get("note") == "abilities":
        able = record.get("abilities")
        kinds = {field.name: type(field.default) for field in fields(Abilities)}
        whole = isinstance(able, dict) and all(type(value) is kinds.get(name) for name, value in able.items())
        _check("abilities", able, whole)
    return record


def _check(name: str, value: Any, holds: bool) -> None:
    if not holds:
        raise ValueError(f"{name} is {value!r:.40}")


def _finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < LARGEST and math.isfinite(value)


def _no_constant(word: str) -> float:
    raise ValueError(f"it holds {word}")


def _not_ours(path: Path, number: int, error: Exception) -> RunError:
    why = "nested too deep" if isinstance(error, RecursionError) else str(error)
    return RunError(
        f"{path}, line {number} is no record of a run ({why:.100}): take the line out with "
        f"'sed -i {number}d {shlex.quote(str(path))}' and run the same command again"
    )
