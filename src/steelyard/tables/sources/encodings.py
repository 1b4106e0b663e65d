"""Texts that are not UTF-8: Excel and Windows write UTF-16, which begins with a mark of its own."""

from __future__ import annotations

from pathlib import Path

from steelyard.foundation.errors import TableError

MARKS = (b"\xff\xfe", b"\xfe\xff")
WIDE_MARKS = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")  # of UTF-32


def check_utf8(path: Path) -> None:
    """Refuse a text in UTF-16, with or without its mark, and say how to write it again."""
    with path.open("rb") as file:
        start = file.read(64)
    if start.startswith((*MARKS, *WIDE_MARKS)) or start[1::2].count(0) > 8 or start[::2].count(0) > 8:
        name = "UTF-32" if start.startswith(WIDE_MARKS) else "UTF-16"
        raise TableError(
            f"{path} is written in {name}, and tables are read in UTF-8: save it again as UTF-8 "
            f"(in Excel 'CSV UTF-8'), or run: iconv -f {name} -t UTF-8 {path} > utf8{path.suffix}"
        )
