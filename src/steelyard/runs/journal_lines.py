r"""The lines of a journal: checksum, length and one JSON object each, so that damage is detected and located.

    ab9a5dde 59 {"kind":"sample","question":"q1","sample":0,"response":"4"}\n

A process that dies leaves at most a *torn* line at the end: the beginning of a record that was never confirmed as
saved. Any other line that does not match its checksum is *damaged*, and is refused with its number.

A line with a correct checksum may still not be a record of a run: a journal may have been written by another program,
or with malicious intent. A record is checked where it is used: its head when the run is opened, the rest when it is
read, so that opening a run with millions of lines is fast.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

from steelyard.foundation.errors import RunError
from steelyard.foundation.files import reason
from steelyard.foundation.judgements import is_judgements
from steelyard.foundation.vectors import decode as decode_vector
from steelyard.runs.parameters import Abilities
from steelyard.runs.run_state import SUCCESS, Head, head_of

LONGEST = 256 << 20  # bytes of one record
NEWLINE = ord("\n")
LONGEST_LINE = LONGEST + 64
FIRST = ("kind", "verifier", "question", "sample")  # written first, in this order, where `heads` reads them
Record = dict[str, Any]
TEXTS = ("response", "finish", "reason", "model", "source")
INTEGERS = ("tokens", "attempts", "seed")
# One of these must be there; inside a text the quotes would be escaped.
NEEDED = {"sample": (b'"response":',), "score": (b'"steps":', b'"vector":', b'"judgements":')}
LARGEST = 2**63  # smaller integers fit into a table


def encode(record: dict[str, Any]) -> bytes:
    r"""Return the line of a record; NaN and infinite numbers become null.

    >>> encode({"sample": 0, "kind": "sample", "question": "q"})
    b'ef408857 43 {"kind":"sample","question":"q","sample":0}\n'
    """
    ordered = {name: record[name] for name in FIRST if name in record} | record
    try:
        text = json.dumps(ordered, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(finite(ordered), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        body = text.encode()
    except UnicodeEncodeError:  # a lone surrogate survives if it is escaped
        body = json.dumps(json.loads(text), separators=(",", ":")).encode()
    if len(body) > LONGEST:
        raise RunError(f"a record of {len(body):,} bytes is too long: the maximum is {LONGEST:,}; limit the tokens")
    return b"%08x %d %s\n" % (crc32(body), len(body), body)


def finite(value: Any) -> Any:
    """Return a JSON value with null for NaN and infinite numbers."""
    if isinstance(value, dict):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def body_of(line: bytes) -> bytes:
    """Return the JSON of a valid line."""
    return line[line.index(b"{") : -1]


def decode(line: bytes) -> bytes | None:
    """Return the JSON of a line without its newline, or None if the line is damaged."""
    start = line.find(b"{")
    body = line[start:]
    return body if line[:start] == b"%08x %d " % (crc32(body), len(body)) else None


def open_journal(path: Path) -> BinaryIO:
    """Open a journal, which must be a regular file: a link would write elsewhere, and a pipe never ends."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise RunError(
            f"{path} is a link or not a regular file, and a run stores its journal in its folder: put the file there"
        )
    return path.open("rb", buffering=1 << 20)


class Lines:
    """Iterates over (offset, JSON) of a journal and then reports how it ends.

    `end` is the end of the valid records, `torn` the number of bytes after it, and `unended` whether the last valid
    record lacks its newline.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.end = self.torn = 0
        self.unended = False

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        number = 0
        try:
            with open_journal(self.path) as file:
                while line := file.readline(LONGEST_LINE):
                    number += 1
                    start = line.find(b"{")  # `decode`, inlined: a journal may have millions of lines
                    body = line[start:-1]
                    if line[:start] != b"%08x %d " % (crc32(body), len(body)) or line[-1] != NEWLINE:
                        if line.endswith(b"\n") or len(line) == LONGEST_LINE:
                            raise self._damage(number)
                        yield from self._last(line)
                        return
                    yield self.end, body
                    self.end += len(line)
        except FileNotFoundError:
            return
        except OSError as error:
            raise RunError(f"{self.path} cannot be read: {reason(error)}; copy the run to another disk") from None

    def _last(self, line: bytes) -> Iterator[tuple[int, bytes]]:
        """The last line is torn unless only its newline is missing or wrong."""
        for candidate in (line, line[:-1]):
            if (body := decode(candidate)) is not None:
                yield self.end, body
                self.end, self.torn, self.unended = self.end + len(candidate), len(line) - len(candidate), True
                return
        self.torn = len(line)

    def _damage(self, number: int) -> RunError:
        return RunError(
            f"{self.path}, line {number} is damaged (its checksum does not match): delete the line with "
            f"'sed -i {number}d {shlex.quote(str(self.path))}' and run the same command again, "
            "which requests its content again"
        )


def heads(lines: Lines) -> Iterator[tuple[int, Head | None, bytes | Record]]:
    """Yield offset, head and content of every record; failures and notes are parsed, the others are raw bytes."""
    for number, (offset, body) in enumerate(lines, 1):
        try:
            head = head_of(body)
            if head and head[0] in NEEDED and not any(name in body for name in NEEDED[head[0]]):
                raise ValueError(f"it has no {NEEDED[head[0]][0].decode()[1:-2]}")
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
    _check("logprob", record.get("logprob"), record.get("logprob") is None or _is_finite(record["logprob"]))
    steps = record.get("steps")
    _check(
        "steps", steps, steps is None or (isinstance(steps, list) and all(s is None or _is_finite(s) for s in steps))
    )
    if "vector" in record:
        _check("vector", record["vector"], _is_vector(record["vector"]))
    if "judgements" in record:
        _check("judgements", record["judgements"], is_judgements(record["judgements"]))
    if record.get("note") == "abilities":
        abilities = record.get("abilities")
        kinds = {field.name: type(field.default) for field in fields(Abilities)}
        valid = isinstance(abilities, dict) and all(type(value) is kinds.get(name) for name, value in abilities.items())
        _check("abilities", abilities, valid)
    return record


def _check(name: str, value: Any, holds: bool) -> None:
    if not holds:
        raise ValueError(f"{name} is {value!r:.40}")


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < LARGEST and math.isfinite(value)


def _is_vector(value: Any) -> bool:
    try:
        return isinstance(value, str) and len(decode_vector(value)) > 0
    except ValueError:
        return False


def _no_constant(constant: str) -> float:
    raise ValueError(f"it contains {constant}")


def _invalid(path: Path, number: int, error: Exception) -> RunError:
    why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return RunError(
        f"{path}, line {number} is not a record of a run ({why:.100}): delete the line with "
        f"'sed -i {number}d {shlex.quote(str(path))}' and run the same command again"
    )
