"""Trim a feedback journal that has grown too long; the oldest requests without a label are dropped first.

Every labelled request is kept with its last label, the one that counts, whatever their size. The shorter journal is on
disk before it replaces the longer one, so that a crash leaves one of the two, and open readers keep reading the old
file.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from steelyard.foundation.files import replacing
from steelyard.runs.journal_lines import Lines

_HEAD = re.compile(rb'\{"kind":"(request|label)","question":"([^"\\]*)"')


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
