"""The loop that reads flat lines of JSON: its source does what the compiled one does, and decimals are exact."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import floor, log10, nextafter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.tables.sources.flat_json import Columns, OtherFormError, form_of
from steelyard.voting.kernels import byte_chunks, decimals, flat_lines, json_escapes
from tests.tables.test_flat_json import VALUES

MODULES = (byte_chunks, decimals, flat_lines, json_escapes)
SIZE = 4096


@contextmanager
def as_source() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as changed, np.errstate(over="ignore"):
        for module in MODULES:
            for name, item in list(vars(module).items()):
                if hasattr(item, "py_func"):
                    changed.setattr(module, name, item.py_func)
        yield


def read(text: bytes) -> list[Any]:
    """What the loop makes of lines."""
    columns = Columns(form_of(text), SIZE)
    buffer = bytearray(text.ljust(SIZE, b"\0") + bytes(flat_lines.MARGIN))
    try:
        frame = columns.read(buffer, len(text))
    except OtherFormError:
        return ["refused"]
    return [columns.examples, frame.schema, frame.rows(named=True), repr(frame.rows())]


LINES = [
    '{"a":"q1","b":-12,"c":0.125,"d":true,"e":null}',
    '{"a":"q1","b":7,"c":1e-7,"d":false,"e":null}',
    '{"a":"","b":0,"c":123456789.12345678901234567890,"d":true,"e":"x"}',
    '{"a":"12345678","b":0,"c":-0.0,"d":true,"e":"\\u00e9\\u4e2d\\u0041 \\n \\"long text\\" ' + "x" * 80 + '"}',
    '{"a":"123456789 123456789","b":0,"c":3,"d":null,"e":"x"}',
    '{"a":"123456789 123456789","b":0.5,"c":0.95012345678901234,"d":null,"e":"12345678"}',
]


@pytest.mark.parametrize("count", range(1, len(LINES) + 1))
def test_lines_are_read_by_the_source_too(count: int) -> None:
    text = "".join(line + "\n" for line in LINES[:count]).encode()
    compiled = read(text)
    assert compiled[2] == [json.loads(line) for line in LINES[:count]]
    with as_source():
        assert read(text) == compiled


@pytest.mark.parametrize("value", VALUES)
def test_odd_values_are_read_or_refused_by_the_source_too(value: str) -> None:
    for other in ("1", "0.5", '"x"', "null"):
        text = f'{{"a":{other}}}\n{{"a":{value}}}\n'.encode()
        compiled = read(text)
        with as_source():
            assert read(text) == compiled


def test_shapes_and_doubts_without_room_are_refused() -> None:
    text = b'{"a":1,"b":1.5}\n{"a":null,"b":1.5}\n'
    for refused in (False, True):
        columns = Columns(form_of(text), SIZE)
        columns._shapes = np.zeros(1 if refused else 2, np.int64)
        buffer = bytearray(text + bytes(flat_lines.MARGIN))
        if refused:
            with pytest.raises(OtherFormError):
                columns.read(buffer, len(text))
        else:
            assert columns.read(buffer, len(text)).height == 2
    doubtful = b'{"a":1.00000000000000011102230246251565404236316680908203125}\n'
    columns = Columns(form_of(doubtful), SIZE)
    assert columns.read(bytearray(doubtful + bytes(flat_lines.MARGIN)), len(doubtful)).item() == 1.0
    columns._doubts = np.zeros(3, np.int64)
    with pytest.raises(OtherFormError):
        columns.read(bytearray(doubtful + bytes(flat_lines.MARGIN)), len(doubtful))


def nearest(digits: int, power: int, cut: bool = False) -> float:
    with as_source():
        return float(decimals.nearest_float(digits, power, cut))


POWERS = st.integers(-decimals.LARGEST, decimals.LARGEST)


@given(digits=st.integers(0, 10**18), power=POWERS | st.integers(-25, 25))
@settings(max_examples=1000, deadline=None)
def test_decimals_are_exact_or_in_doubt(digits: int, power: int) -> None:
    assert nearest(digits, power) in (float(f"{digits}e{power}"), -1.0)


@given(digits=st.integers(10**17, 10**18 - 1), power=POWERS, rest=st.integers(1, 10**30 - 1))
@settings(max_examples=500, deadline=None)
def test_decimals_with_dropped_digits_are_exact_or_in_doubt(digits: int, power: int, rest: int) -> None:
    assert nearest(digits, power, True) in (float(f"{digits}.{rest:030}e{power}"), -1.0)


@given(value=st.floats(1e-250, 1e250), above=st.integers(-1, 1))
@settings(max_examples=1000, deadline=None)
def test_decimals_next_to_the_middle_between_two_floats(value: float, above: int) -> None:
    middle = (Fraction(value) + Fraction(nextafter(value, 1e300))) / 2
    power = floor(log10(value)) - 17
    digits = int(middle / Fraction(10) ** power) // 10 + above
    assert nearest(digits, power + 1) in (float(f"{digits}e{power + 1}"), -1.0)


def test_few_decimals_are_in_doubt() -> None:
    rng = np.random.default_rng(0)
    digits = rng.integers(10**16, 10**17, 2000).tolist()
    assert sum(nearest(number, -17) < 0 for number in digits) < 20
    assert sum(nearest(10 * number, -18, True) < 0 for number in digits) < 400


@given(data=st.binary(min_size=8, max_size=8))
def test_eight_bytes_at_a_time(data: bytes) -> None:
    stops = [i for i, byte in enumerate(data) if byte < 32 or byte in b'"\\']
    with as_source():
        chunk = byte_chunks.eight_bytes(np.frombuffer(data, np.uint8), np.uint64(0))
        assert int(chunk) == int.from_bytes(data, "little")
        stop = byte_chunks.first_stop(chunk)
        assert (int(byte_chunks.byte_index(stop)) if stop else None) == (stops[0] if stops else None)
        assert byte_chunks.are_digits(chunk) == data.isdigit()


@given(number=st.integers(0, 10**8 - 1))
def test_eight_digits_at_a_time(number: int) -> None:
    with as_source():
        chunk = byte_chunks.eight_bytes(np.frombuffer(f"{number:08}".encode(), np.uint8), np.uint64(0))
        assert byte_chunks.are_digits(chunk)
        assert byte_chunks.eight_digits(chunk) == number
