"""Validate records as they are read back: a line with a correct checksum may still not be a record of a run.

A journal may have been written by another program, or with malicious intent. A record is checked where it is used: its
head when the run is opened, the rest when it is read, so that opening a run with millions of lines is fast.
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
INTEGERS = ("tokens", "attempts", "seed")
NEEDED = {"sample": b'"response":', "score": b'"steps":'}  # inside a text the quotes would be escaped
LARGEST = 2**63  # smaller integers fit into a table


def heads(lines: Lines) -> Iterator[tuple[int, Head | None, bytes | Record]]:
    """Yield offset, head and content of every record; failures and notes are parsed, the others are raw bytes."""
    for number, (offset, body) in enumerate(lines, 1):
        try:
            head = head_of(body)
            if head and head[0] in NEEDED and NEEDED[head[0]] not in body:
                raise ValueError(f"it has no {NEEDED[head[0]].decode()[1:-2]}")
            record = body if head and head[0] in SUCCESS else parsed(body)
        except (ValueError, RecursionError) as error:
            raise _invalid(lines.path, number, error) from None
        yield offset, head, record


def parsed_at(path: Path, offset: int, body: bytes | Record) -> Record:
    """Return the record at an offset of a journal; an error names its line."""
    if not isinstance(body, bytes):
        return body
    try:
        return parsed(body)
    except (ValueError, RecursionError) as error:
        with path.open("rb") as file:
            number = 1 + sum(1 for line in iter(file.readline, b"") if file.tell() <= offset)
        raise _invalid(path, number, error) from None


def parsed(body: bytes) -> Record:
    """Return a record after checking the types of its fields; raises a ValueError.

    >>> parsed(b'{"kind":"sample","tokens":"many"}')
    Traceback (most recent call last):
    ValueError: tokens is 'many'
    """
    record: Record = json.loads(body, parse_constant=_no_constant)
    for name in TEXTS:
        _check(name, record.get(name), isinstance(record.get(name), str | None))
    for name in INTEGERS:
        value = record.get(name)
        _check(name, value, value is None or (type(value) is int and -LARGEST <= value < LARGEST))
    _check("logprob", record.get("logprob"), record.get("logprob") is None or _finite(record["logprob"]))
    steps = record.get("steps")
    _check("steps", steps, steps is None or (isinstance(steps, list) and all(s is None or _finite(s) for s in steps)))
    if record.get("note") == "abilities":
        abilities = record.get("abilities")
        kinds = {field.name: type(field.default) for field in fields(Abilities)}
        valid = isinstance(abilities, dict) and all(type(value) is kinds.get(name) for name, value in abilities.items())
        _check("abilities", abilities, valid)
    return record


def _check(name: str, value: Any, holds: bool) -> None:
    if not holds:
        raise ValueError(f"{name} is {value!r:.40}")


def _finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < LARGEST and math.isfinite(value)


def _no_constant(constant: str) -> float:
    raise ValueError(f"it contains {constant}")


def _invalid(path: Path, number: int, error: Exception) -> RunError:
    why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return RunError(
        f"{path}, line {number} is not a record of a run ({why:.100}): delete the line with "
        f"'sed -i {number}d {shlex.quote(str(path))}' and run the same command again"
    )
