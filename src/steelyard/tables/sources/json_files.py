"""One JSON value -> rows: an object, a list of objects, an object that holds such a list, or what pandas writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from steelyard.foundation.errors import TableError
from steelyard.foundation.surrogates import replace_surrogates
from steelyard.tables.sources.damage import first_line
from steelyard.tables.sources.encodings import check_utf8
from steelyard.tables.sources.json_lines import DEEPEST, is_deep, once_each, tamed
from steelyard.tables.sources.width import TEXT, check_width

LARGEST = 1 << 30  # bytes
QUESTION_NAMES = {"question", "prompt", "problem", "input", "instruction", "query", "messages"}


def is_json_list(path: Path) -> bool:
    """Whether a file that is called JSON lines holds one list of objects."""
    with path.open("rb") as file:
        start = file.read(4096).removeprefix(b"\xef\xbb\xbf").split()
    return b"".join(start[:2]).startswith(b"[{")


def json_value(path: Path) -> Any:
    """Return what a .json file holds; None where it is JSON lines by another name."""
    if path.stat().st_size > LARGEST:
        raise TableError(
            f"{path} is larger than {LARGEST >> 20:,} MB: write it as JSON lines (.jsonl), which is read piecewise"
        )
    check_utf8(path)
    content = path.read_bytes()
    if is_deep(content):
        raise TableError(f"{path} is not JSON we read: it is nested more than {DEEPEST} deep")
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=once_each)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return None
        raise TableError(f"{path} is not JSON ({first_line(error)}): correct it, or write it again") from None
    except (ValueError, RecursionError) as error:
        raise TableError(f"{path} is not JSON ({first_line(error)}): correct it, or write it again") from None


def json_records(path: Path, value: Any) -> list[dict[str, Any]]:
    """The objects of a file: the one that it is, or those of its list, with values that columns can hold."""
    found = value if isinstance(value, list) else [value]
    for i, row in enumerate(found):
        if not isinstance(row, dict):
            raise TableError(f"{path}, entry {i + 1} is a JSON {type(row).__name__}, not an object with named fields")
        check_width(path, len(row))
    if not found:
        raise TableError(f"{path} is empty: it has no rows to read")
    return [{replace_surrogates(name): tamed(each, name in TEXT) for name, each in row.items()} for row in found]


def json_rows(path: Path, value: Any) -> list[dict[str, Any]]:
    """The rows of a table that was written as one JSON value."""
    if isinstance(value, dict):
        value = _unfolded(path, value)
    return json_records(path, value)


def _unfolded(path: Path, value: dict[str, Any]) -> Any:
    """The list that an object stands for, or the object itself where it is one row."""
    if set(value) == {"columns", "index", "data"}:  # pandas, orient="split"
        return [dict(zip(value["columns"], row, strict=True)) for row in value["data"]]
    inner = list(value.values())
    if inner and all(isinstance(each, dict) and each for each in inner):
        if all(name.isdigit() for each in inner for name in each):  # pandas as it writes by itself: by columns
            keys = list(inner[0])
            return [{name: column.get(key) for name, column in value.items()} for key in keys]
        return inner  # by row
    if (
        inner
        and all(isinstance(each, list) for each in inner)
        and len({len(each) for each in inner}) == 1
        and len(inner) > 1
    ):
        return [dict(zip(value, row, strict=True)) for row in zip(*inner, strict=True)]
    lists = [name for name, each in value.items() if _is_rows(each)]
    if QUESTION_NAMES & set(value) or not lists:
        return value
    if len(lists) > 1:
        raise TableError(
            f"{path} holds several lists of objects ({', '.join(lists)}): write the one that is meant as a file"
        )
    return value[lists[0]]


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)
