"""A journal of feedback that has grown too long -> a shorter one: the oldest requests without a label go first.

Every labelled request stays with the label that counts, its last one, whatever they take. The shorter journal is on the
disk before it takes the place of the longer one, so that a crash leaves one of the two, and whoever reads goes on
reading the one that was there.
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
    """Where a record stands, how long its line is, and what it is; the name is empty for what nobody knows."""

    offset: int
    size: int
    label: bool
    name: str


def trim(path: Path, most: int, busy: Collection[str] = ()) -> dict[str, int]:
    """Cut a journal to so many bytes, where labels allow it; return where the requests stand that are left.

    `busy` are requests that are being labelled now: they stay too.
    """
    lines = _lines(path)
    last = {line.name: line for line in lines if line.label}
    needed = {*last, *busy, ""}
    staying = {line for line in lines if (last[line.name] is line if line.label else line.name in needed)}
    room = most - sum(line.size for line in staying)
    for line in reversed(lines):
        if not line.label and line not in staying:
            room -= line.size
            if room < 0:
                break
            staying.add(line)
    places, end = dict[str, int](), 0
    with replacing(path, durable=True, follow=False) as temporary, temporary.open("wb") as new, path.open("rb") as old:
        for line in lines:
            if line in staying:
                old.seek(line.offset)
                if not line.label:
                    places[line.name] = end
                end += new.write(old.read(line.size).removesuffix(b"\n") + b"\n")  # the last may lack its end
    return places


def _lines(path: Path) -> list[Line]:
    """The lines of a journal; a torn one at the end is no part of it."""
    found = Lines(path)
    starts = [(offset, _HEAD.match(body)) for offset, body in found]
    ends = [offset for offset, _ in starts[1:]] + [found.end]
    return [
        Line(offset, end - offset, bool(head and head[1] == b"label"), head[2].decode() if head else "")
        for (offset, head), end in zip(starts, ends, strict=True)
    ]
