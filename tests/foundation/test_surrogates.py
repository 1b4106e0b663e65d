"""One repair of halves of surrogate pairs, for whatever a file or a table has to hold."""

from __future__ import annotations

from pathlib import Path

import pytest

import steelyard
from steelyard.foundation.surrogates import is_encodable, replace_surrogates

CASES = [
    ("", ""),
    ("\ufeffx + 1 = caf\u00e9 \U0001f600", "\ufeffx + 1 = caf\u00e9 \U0001f600"),
    ("half \ud800 a pair", "half \ufffd a pair"),
    ("\udc00\ud800", "\ufffd\ufffd"),
    ("two halves: \ud83d\ude00, and one: \ud83d", "two halves: \U0001f600, and one: \ufffd"),
]


@pytest.mark.parametrize(("text", "mended"), CASES)
def test_a_whole_text_stays_and_any_other_becomes_one_that_a_file_can_hold(text: str, mended: str) -> None:
    assert replace_surrogates(text) == mended
    assert is_encodable(text) == (text == mended)
    assert replace_surrogates(text).encode().decode() == mended


def test_the_repair_is_written_once() -> None:
    files = Path(steelyard.__file__).parent.rglob("*.py")
    assert [file.name for file in files if '"surrogatepass").decode' in file.read_text()] == ["surrogates.py"]
