"""Rows as a layout finds them, one per response -> our table, and how many there are in words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from steelyard.foundation.errors import TableError

Row = dict[str, Any]
KINDS: dict[str, Any] = {
    **dict.fromkeys(("question", "response", "answer", "gold", "prompt", "domain", "llm", "finish"), pl.String),
    **dict.fromkeys(("sample", "tokens"), pl.Int64),
    "correct": pl.Boolean,
}
ONE_ACCEPTS_SEVERAL = "1 question accepts several answers"


def table_of(rows: Sequence[Row]) -> pl.LazyFrame:
    """Make the table: columns that are empty go, and samples are numbered within their question in the order found.

    >>> rows = [{"question": "a", "response": "4"}, {"question": "a", "response": "5", "gold": None}]
    >>> table_of(rows).collect().rows()
    [('a', 0, '4'), ('a', 1, '5')]
    """
    if not rows:
        raise TableError("it holds no responses: write the file again")
    seen: Counter[str] = Counter()
    columns: dict[str, list[Any]] = {"question": [], "sample": [], "response": []}
    for name in dict.fromkeys(name for row in rows for name in row):
        columns[name] = [row.get(name) for row in rows]
    columns["sample"] = []
    for row in rows:
        columns["sample"].append(seen[row["question"]])
        seen[row["question"]] += 1
    kept = [name for name, values in columns.items() if name == "response" or any(v is not None for v in values)]
    return pl.DataFrame([pl.Series(name, columns[name], _kind(name, columns[name])) for name in kept]).lazy()


def _kind(name: str, values: Iterable[Any]) -> Any:
    if name == "gold" and any(isinstance(value, list) for value in values):
        return pl.List(pl.String)
    if name in KINDS:
        return KINDS[name]
    return pl.Boolean if all(isinstance(value, bool) for value in values if value is not None) else pl.Float64


def counted(rows: Sequence[Row], each: str = "samples") -> str:
    """Say how many questions there are, and how many responses each has.

    >>> counted([{"question": "a"}, {"question": "a"}, {"question": "b"}]), counted([{"question": "a"}], "epochs")
    ('2 questions, 1 to 2 samples', '1 question, 1 epoch')
    """
    per = Counter(row["question"] for row in rows).values()
    few, many = min(per), max(per)
    number = f"{many:,}" if few == many else f"{few:,} to {many:,}"
    questions = "1 question" if len(per) == 1 else f"{len(per):,} questions"
    return f"{questions}, {number} {each if many > 1 else each.removesuffix('s')}"


def listing(names: Iterable[str]) -> str:
    """Names as one says them: a, b and c."""
    *most, last = dict.fromkeys(names)
    return f"{', '.join(most)} and {last}" if most else last


def said(*parts: str) -> str:
    """The parts of a line that have something to say."""
    return ", ".join(part for part in parts if part)


def failures(rows: Sequence[Row]) -> str:
    """Say how many responses are missing, which vote for nothing and count among those that were asked for."""
    missing = sum(row.get("response") is None for row in rows)
    return f"{missing:,} of {len(rows):,} without a response" if missing else ""


def accepted_golds(rows: Sequence[Row]) -> str:
    """Make `gold` a list in every row where one row accepts several answers, and say so; a list of one is that answer.

    A list of texts holds the answers that are accepted; one of numbers is an answer itself, as in answers/golds.py.

    >>> rows = [{"question": "a", "gold": ["NYC", "New York"]}, {"question": "b", "gold": "4"}]
    >>> accepted_golds(rows), [row["gold"] for row in rows]
    ('1 question accepts several answers', [['NYC', 'New York'], ['4']])
    """
    for row in rows:
        row["gold"] = _accepted(row.get("gold"))
    several = {row["question"] for row in rows if isinstance(row["gold"], list)}
    if not several:
        return ""
    for row in rows:
        row["gold"] = [row["gold"]] if isinstance(row["gold"], str) else row["gold"]
    return f"{len(several):,} questions accept several answers" if len(several) > 1 else ONE_ACCEPTS_SEVERAL


def _accepted(gold: Any) -> Any:
    if not isinstance(gold, list):
        return gold
    values = [each for each in gold if each is not None and str(each).strip()]
    if len(values) > 1 and not all(isinstance(each, str) for each in values):
        return json.dumps(values)
    texts = list(dict.fromkeys(str(each).strip() for each in values))
    return texts if len(texts) > 1 else next(iter(texts), None)


def by_task(rows: Sequence[Row]) -> None:
    """Put the task before the name of a question, where there is more than one task."""
    if len({row.get("domain") for row in rows}) > 1:
        for row in rows:
            row["question"] = f"{row['domain']}/{row['question']}"


def within(value: Any, *names: str) -> Any:
    """What stands in an object under a name, in what stands there under the next; None where there is nothing.

    >>> within({"a": {"b": 1}}, "a", "b"), within({"a": [2]}, "a", "b")
    (1, None)
    """
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def need(record: Any, name: str, kind: type | tuple[type, ...], where: str) -> Any:
    """A field of a record that must be there."""
    value = within(record, name)
    if not isinstance(value, kind):
        there = isinstance(record, dict) and name in record
        found = f"{name!r} is {type(value).__name__}" if there else f"it has no {name!r}"
        raise TableError(f"{where} is damaged ({found}): write the file again, or remove it")
    return value
