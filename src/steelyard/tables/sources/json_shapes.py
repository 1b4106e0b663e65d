"""The shapes of JSON lines: names, brackets and types of values, without the values.

Lines of the same shape are read alike, so that one line of each shape decides what would need a look at every line:
the types of columns, repeated names, width and depth. A long file has few shapes. Where it has many, or a value that
polars may misread, there is no short list, and every line is looked at.

A shape is a 64-bit hash with a secret seed, so that two shapes with the same hash cannot be constructed.
"""

from __future__ import annotations

from pathlib import Path
from secrets import randbits
from typing import NamedTuple

import numpy as np

BLOCK = 16 << 20  # bytes read at a time
MOST_SHAPES = 1000
SECRET = np.uint64(randbits(64) | 1)


class Shapes(NamedTuple):
    """One line of each shape in a file, in order of appearance, and the number of lines that are not blank."""

    examples: list[bytes]
    lines: int


def shapes_of(path: Path, longest: int) -> Shapes | None:
    """Return the shapes of a file; None if it has too many, a line longer than `longest`, or a doubtful value."""
    from steelyard.voting import kernels
    from steelyard.voting.kernels.json_line_shapes import DEEPEST

    known, examples, lines, rest = np.zeros(MOST_SHAPES, np.uint64), list[bytes](), 0, b""
    with path.open("rb") as file:
        while True:
            block = file.read(BLOCK)
            content = rest + block if block else rest + b"\n"
            end = content.rfind(b"\n") + 1
            if not end and len(content) <= longest:
                rest = content
                continue
            begins = np.zeros(MOST_SHAPES, np.int64)
            counts = np.array([len(examples), 0], np.int64)
            text = kernels.read_only(np.frombuffer(content, np.uint8, end))
            levels = np.zeros(DEEPEST + 1, np.int64), np.zeros(DEEPEST + 1, np.bool_)
            plain = kernels.line_shapes(text, longest, SECRET, *levels, known, begins, counts)
            if len(content) - end > longest or not plain:
                return None
            new = (int(begin) for begin in begins[len(examples) : counts[0]])
            examples += [content[begin : content.index(b"\n", begin)] for begin in new]
            lines += int(counts[1])
            rest = content[end:]
            if not block:
                return Shapes(examples, lines)
