"""The golden samples of the layouts, and how tests look at what was read out of them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from steelyard.foundation.errors import SteelyardNote, TableError
from steelyard.tables.responses import open_responses

GOLDEN = Path(__file__).parent.parent / "golden"


def table(source: Any) -> pl.DataFrame:
    """What a source becomes, in the order of its questions."""
    return open_responses(source).collect().sort("question", "sample")


def note(source: Any) -> str:
    """What is said about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        open_responses(source)
    return str(next(each.message for each in caught if each.category is SteelyardNote))


def refusal(source: Any) -> str:
    """The line with which it is refused."""
    with pytest.raises(TableError) as error:
        open_responses(source)
    assert "\n" not in str(error.value)
    return str(error.value)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(path: Path, rows: Iterable[Any]) -> Path:
    """JSON lines, or one JSON value for .json."""
    rows = list(rows)
    path.write_text(json.dumps(rows) if path.suffix == ".json" else "".join(json.dumps(row) + "\n" for row in rows))
    return path
