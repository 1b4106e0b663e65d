"""The texts of a polars column as Arrow's views of 16 bytes, for loops that look at many short texts.

A view is the length of a text in 4 bytes and, up to 12 bytes, the text itself followed by zeros; of a longer text it
has the first 4 bytes and its place in the buffers of the column, so that equal views of one column are equal texts, but
equal texts may have different views. polars keeps them so: nothing is converted, and no text is created.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

Views = NDArray[np.uint64]  # [R, 2]
FORMAT = b"vu"  # of texts as views


class _Schema(ctypes.Structure):
    """An ArrowSchema."""

    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_void_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    )


class _Array(ctypes.Structure):
    """An ArrowArray."""

    _fields_ = (
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    )


class _Exported(_Array):
    """An array that polars exports: its memory is polars' own, and is given back with the last reference."""

    def __del__(self) -> None:
        if self.release:
            _release(self)


class _Stream(ctypes.Structure):
    """An ArrowArrayStream."""

    _fields_ = (
        ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Schema))),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Array))),
    )


def views_of(texts: pl.Series) -> Views | None:
    """Return a view for every text of a column, None if polars gives none; what stands for null is not defined.

    >>> import polars as pl
    >>> views_of(pl.Series(["ab", "abcdefghijkl"])).tobytes()
    b'\\x02\\x00\\x00\\x00ab\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x0c\\x00\\x00\\x00abcdefghijkl'
    """
    capsule = texts.rechunk().__arrow_c_stream__()  # each chunk has its own places
    stream = _Stream.from_address(_pointer(capsule))
    schema = _Schema()
    if stream.get_schema(ctypes.addressof(stream), ctypes.byref(schema)):
        return None
    is_text = schema.format == FORMAT
    _release(schema)
    if not is_text:
        return None
    exported = _Exported()
    if not len(texts):
        return np.empty((0, 2), np.uint64)
    if stream.get_next(ctypes.addressof(stream), ctypes.byref(exported)) or exported.length != len(texts):
        return None
    memory = (ctypes.c_uint64 * (2 * len(texts))).from_address(exported.buffers[1] + 16 * exported.offset)
    memory.owner = exported  # type: ignore[attr-defined]
    views = np.frombuffer(memoryview(memory), np.uint64).reshape(-1, 2)
    views.flags.writeable = False
    return views


def _pointer(capsule: object) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, b"arrow_array_stream"))


def _release(owned: _Schema | _Array) -> None:
    """Give back what polars exported."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(owned.release)(ctypes.addressof(owned))
