"""One JSON value -> rows: an object, a list of objects, an object with such a list, or what pandas writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.tables.sources.file_checks import TEXT, check_utf8, check_width, first_line
from steelyard.tables.sources.json_lines import DEEPEST, is_deep, storable, unique_names

LARGEST = 1 << 30  # bytes
QUESTION_NAMES = {"question", "prompt", "problem", "input", "instruction", "query", "messages"}


def is_json_list(path: Path) -> bool:
    """Whether a file with the suffix of JSON lines contains one list of objects."""
    with path.open("rb") as file:
        start = file.read(4096).removeprefix(b"\xef\xbb\xbf").split()
    return b"".join(start[:2]).startswith(b"[{")


def json_value(path: Path) -> Any:
    """Return the content of a .json file; None if it is really JSON lines."""
    if path.stat().st_size > LARGEST:
        raise TableError(
            f"{path} is larger than {LARGEST >> 20:,} MB: write it as JSON lines (.jsonl), which are read in pieces"
        )
    check_utf8(path)
    content = path.read_bytes()
    if is_deep(content):
        raise TableError(
            f"{path} cannot be read as JSON: it is nested more than {DEEPEST} levels deep; "
            "flatten it, or leave out the deep part"
        )
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=unique_names)
    except (ValueError, RecursionError) as error:
        several = isinstance(error, json.JSONDecodeError) and error.msg == "Extra data"
        if several and content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return None
        raise TableError(f"{path} is not JSON ({first_line(error)}): correct it, or write it again") from None


def json_records(path: Path, value: Any) -> list[dict[str, Any]]:
    """Return the object in a file, or those in its list, with values that columns can store."""
    rows = value if isinstance(value, list) else [value]
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            raise TableError(f"{path}, entry {i + 1} is a JSON {type(row).__name__}, not an object with named fields")
        check_width(path, len(row))
    if not rows:
        raise TableError(f"{path} is empty: it has no rows to read")
    return [{replace_surrogates(name): storable(field, name in TEXT) for name, field in row.items()} for row in rows]


def json_rows(path: Path, value: Any) -> list[dict[str, Any]]:
    """Return the rows of a table that was written as one JSON value."""
    if isinstance(value, dict):
        value = _unfolded(path, value)
    return json_records(path, value)


def _unfolded(path: Path, value: dict[str, Any]) -> Any:
    """Return the rows that an object represents, or the object itself if it is one row."""
    if set(value) == {"columns", "index", "data"}:  # pandas, orient="split"
        return [dict(zip(value["columns"], row, strict=True)) for row in value["data"]]
    inner = list(value.values())
    if inner and all(isinstance(entry, dict) and entry for entry in inner):
        if all(name.isdigit() for column in inner for name in column):  # pandas, orient="columns", its default
            keys = list(inner[0])
            return [{name: column.get(key) for name, column in value.items()} for key in keys]
        return inner  # pandas, orient="index"
    if (
        inner
        and all(isinstance(column, list) for column in inner)
        and len({len(column) for column in inner}) == 1
        and len(inner) > 1
    ):
        return [dict(zip(value, row, strict=True)) for row in zip(*inner, strict=True)]
    lists = [
        name
        for name, rows in value.items()
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)
    ]
    if QUESTION_NAMES & set(value) or not lists:
        return value
    if len(lists) > 1:
        raise TableError(
            f"{path} contains several lists of objects ({', '.join(lists)}): write the one to read to its own file"
        )
    return value[lists[0]]
