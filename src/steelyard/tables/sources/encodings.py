"""Text files in UTF-16 or UTF-32, as Excel and Windows write them with a byte order mark."""

from __future__ import annotations

from pathlib import Path

from steelyard.foundation.errors import TableError

MARKS = (b"\xff\xfe", b"\xfe\xff")
WIDE_MARKS = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")  # UTF-32


def check_utf8(path: Path) -> None:
    """Refuse a UTF-16 or UTF-32 file, with or without a byte order mark, and say how to convert it."""
    with path.open("rb") as file:
        start = file.read(64)
    if start.startswith((*MARKS, *WIDE_MARKS)) or start[1::2].count(0) > 8 or start[::2].count(0) > 8:
        name = "UTF-32" if start.startswith(WIDE_MARKS) else "UTF-16"
        raise TableError(
            f"{path} is encoded in {name}, and tables must be UTF-8: save it as UTF-8 "
            f"(in Excel 'CSV UTF-8'), or run: iconv -f {name} -t UTF-8 {path} > utf8{path.suffix}"
        )
