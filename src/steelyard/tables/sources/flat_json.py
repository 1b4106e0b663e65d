"""Large files of JSON lines that are flat objects, all with the same names in the same order.

They are read by one compiled loop, block by block. Whatever it does not accept, and types that differ between lines in
another way than integers and decimals, leave the file to the general parser (json_lines.py), with the same result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.foundation.panics import hidden_panics
from steelyard.tables.sources.file_checks import DAMAGE
from steelyard.tables.sources.json_shapes import MOST_SHAPES

BLOCK = 8 << 20  # bytes read at a time; a line is not longer
MOST_COLUMNS = 21  # the types of a line's values fit into 64 bits
SPACES = rb"[ \t\r]*"
START, NAME = re.compile(SPACES + rb"\{" + SPACES), re.compile(rb'"([^"\\\x00-\x1f]*)"' + SPACES + rb":" + SPACES)
VALUE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[-+.0-9eE]+|true|false|null')
NEXT, END = re.compile(SPACES + rb"," + SPACES), re.compile(SPACES + rb"\}" + SPACES)
TYPES = (pl.Null(), pl.String(), pl.Int64(), pl.Float64(), pl.Boolean())  # by their number in the loop


class Form(NamedTuple):
    """The names of a line, and the bytes before, between and after its values."""

    names: list[str]
    pieces: list[bytes]


class OtherFormError(Exception):
    """A line is not a flat object with the names of the first one, or may be misread."""


def read_flat_lines(path: Path, longest: int, is_plain: Callable[[bytes], bool]) -> pl.DataFrame | None:
    """Read a file; None if it has another form, or if the first line of some shape is not plain."""
    size = min(BLOCK, longest)
    try:
        with FileIO(path) as file, hidden_panics():
            form = form_of(next(blocks(file, size), (b"", 0))[0])
            file.seek(0)
            columns = Columns(form, size)
            frames = [columns.read(*block) for block in blocks(file, size)]
            if not all(map(is_plain, columns.examples)):
                return None
            schema = pl.read_ndjson(b"\n".join(columns.examples), infer_schema_length=None).schema
            if schema != columns.schema():
                return None
            return pl.concat([frame if frame.schema == schema else _cast(frame, schema) for frame in frames])
    except (OtherFormError, UnicodeDecodeError, MemoryError, *DAMAGE):
        return None


def form_of(text: bytes | bytearray) -> Form:
    r"""Return the form of the first line, which must be a flat object with plain and distinct names.

    >>> form_of(b'{"question": "a", "score": 0.5}\n')
    Form(names=['question', 'score'], pieces=[b'{"question": ', b', "score": ', b'}\n'])
    """
    line = bytes(text[: text.find(b"\n") + 1])
    names, pieces, begin = list[str](), list[bytes](), 0
    between = START.match(line)
    while between and (name := NAME.match(line, between.end())) and (value := VALUE.match(line, name.end())):
        names.append(name[1].decode())
        pieces.append(line[begin : name.end()])
        begin = value.end()
        between = NEXT.match(line, begin)
    end = END.match(line, begin)
    if between or not end or line[end.end() :] != b"\n" or not len(set(names)) == len(names) <= MOST_COLUMNS:
        raise OtherFormError
    return Form(names, [*pieces, line[begin:]])


def blocks(file: FileIO, size: int) -> Iterator[tuple[bytearray, int]]:
    """Yield a buffer, used again for the next block, and the length of the whole lines at its front."""
    from steelyard.voting.kernels import flat_lines

    buffer, filled = bytearray(size + flat_lines.MARGIN), 0
    view = memoryview(buffer)
    while True:
        read = file.readinto(view[filled:size])
        filled += read
        if not read and filled and buffer[filled - 1] != ord("\n"):
            buffer[filled] = ord("\n")
            filled += 1
        end = buffer.rfind(b"\n", 0, filled) + 1
        if filled == size and not end:
            raise OtherFormError  # a line is longer than a block
        if end:
            yield buffer, end
            view[: filled - end] = bytes(view[end:filled])
            filled -= end
        if not read:
            return


class Columns:
    """The columns of a file as far as it was read, in buffers for one block."""

    def __init__(self, form: Form, size: int) -> None:
        from steelyard.voting.kernels import flat_lines

        self.examples: list[bytes] = []  # the first line of each shape
        self._names, self._loop, width = form.names, flat_lines.flat_rows, len(form.names)
        self._widths = np.array([len(piece) for piece in form.pieces])
        self._bounds = np.concatenate(([0], np.cumsum((self._widths + 7) // 8)))
        self._pieces = _chunks(form.pieces)
        self._masks = _chunks([b"\xff" * len(piece) for piece in form.pieces])
        self._kinds, self._shapes = np.zeros(width, np.int64), np.zeros(MOST_SHAPES, np.int64)
        self._room = size // (int(self._widths.sum()) + width) + 1
        self._codes, self._missing = (np.zeros(width * self._room, kind) for kind in (np.uint32, np.uint8))
        self._integers, self._numbers = (np.zeros(width * self._room, kind) for kind in (np.int64, np.float64))
        self._data, self._doubts = np.empty(width * size, np.uint8), np.empty(4 * self._room, np.int64)
        self._slots = np.empty(width * flat_lines.SLOTS * flat_lines.SLOT, np.int64)

    def schema(self) -> pl.Schema:
        """Return the types of the columns so far."""
        return pl.Schema(zip(self._names, (TYPES[kind] for kind in self._kinds), strict=True))

    def read(self, buffer: bytearray, length: int) -> pl.DataFrame:
        """Read the whole lines at the front of a buffer."""
        text, before, width = np.frombuffer(buffer, np.uint8), len(self.examples), len(self._names)
        begins, counts, sizes = np.zeros(MOST_SHAPES, np.int64), np.array([before, 0]), np.zeros(3 * width, np.int64)
        self._slots[:], self._missing[:] = -1, 0
        rows = self._loop(
            text, length, self._pieces, self._masks, self._bounds, self._widths, self._room, self._kinds, self._shapes,
            begins, counts, self._codes, self._integers, self._numbers, self._missing, self._data, self._slots, sizes,
            self._doubts,
        )  # fmt: skip
        if rows < 0:
            raise OtherFormError
        self.examples += [bytes(buffer[begin : buffer.find(b"\n", begin)]) for begin in begins[before : counts[0]]]
        for column, row, begin, end in self._doubts[: counts[1]].reshape(-1, 4).tolist():
            self._numbers[column * self._room + row] = float(bytes(buffer[begin:end]))
        ends, missing = sizes[::3].tolist(), sizes[2::3].tolist()
        return pl.select(self._column(i, rows, i * length, ends[i], missing[i] > 0) for i in range(width))

    def _column(self, i: int, rows: int, begin: int, size: int, missing: bool) -> pl.Expr:
        """Return the values of one column in the last block; its texts begin in the data here."""
        here, kind = slice(i * self._room, i * self._room + rows), TYPES[self._kinds[i]]
        if kind == pl.Null:
            return pl.repeat(None, rows, dtype=pl.Null).alias(self._names[i])
        if kind == pl.String:
            texts = pl.Series([self._data[begin : begin + size].tobytes()], dtype=pl.Binary)
            values = pl.lit(texts).cast(pl.String).str.split("\0").explode().gather(_literal(self._codes[here]))
        else:
            values = _literal((self._numbers if kind == pl.Float64 else self._integers)[here]).cast(kind)
        if missing:
            values = pl.when(_literal(self._missing[here]) == 0).then(values)
        return values.alias(self._names[i])


def _cast(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())


def _chunks(pieces: list[bytes]) -> NDArray[np.uint64]:
    """Return pieces of bytes as chunks of eight, each filled up with zeros."""
    return np.frombuffer(b"".join(piece + bytes(-len(piece) % 8) for piece in pieces), "<u8").astype(np.uint64)


def _literal(values: NDArray[np.generic]) -> pl.Expr:
    return pl.lit(pl.Series(values.copy()))  # polars may not copy
