"""Rows of a layout, one per response -> a table with standard columns, labels and scores of graders, and notes."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import TableError
from steelyard.foundation.token_statistics import CONFIDENCE, ENTROPY
from steelyard.tables.grades import CORRECT, GRADE, INCORRECT, NOT_ATTEMPTED, PARTIAL, letter_of, partial_note
from steelyard.tables.recognition import Converted

Row = dict[str, Any]
KINDS: dict[str, Any] = {
    **dict.fromkeys(("question", "response", "answer", "gold", "prompt", "domain", "llm", "finish", GRADE), pl.String),
    **dict.fromkeys(("sample", "tokens"), pl.Int64),
    "correct": pl.Boolean,
    **dict.fromkeys((CONFIDENCE, ENTROPY), pl.List(pl.Float64)),
}
Mark = bool | float | str | None  # a label, a number, or a grade that is neither right nor wrong (P, N)
Marks = dict[str, Mark]  # by grader
LABELS: dict[str, Mark] = {CORRECT: True, INCORRECT: False, "true": True, "false": False}
NUMBERS: dict[Mark, float] = {PARTIAL: 0.5, NOT_ATTEMPTED: 0.0}  # grades among numbers


def converted(
    rows: Sequence[Row], noun: str = "samples", *notes: str, first: str = "", last: Iterable[str] = ()
) -> Converted:
    """Return the table of a layout's rows, with lists of accepted golds and with the task in the ids if needed.

    Its summary is the note `first`, the counts, `notes`, what was done to the golds, missing responses, and `last`.
    """
    several_golds = accepted_golds(rows)
    if len({row.get("domain") for row in rows}) > 1:
        for row in rows:
            row["question"] = f"{row['domain']}/{row['question']}"
    frame = table_of(rows)  # refuses a file without responses
    return Converted(frame, join_notes(first, count_note(rows, noun), *notes, several_golds, failure_note(rows), *last))


def table_of(rows: Sequence[Row]) -> pl.LazyFrame:
    """Make the table: empty columns are dropped, and samples are numbered per question in the order of the rows.

    >>> rows = [{"question": "a", "response": "4"}, {"question": "a", "response": "5", "gold": None}]
    >>> table_of(rows).collect().rows()
    [('a', 0, '4'), ('a', 1, '5')]
    """
    if not rows:
        raise TableError("it contains no responses: write the file again")
    seen: Counter[str] = Counter()
    columns: dict[str, list[Any]] = {"question": [], "sample": [], "response": []}
    for name in dict.fromkeys(name for row in rows for name in row):
        columns[name] = [row.get(name) for row in rows]
    columns["sample"] = []
    for row in rows:
        columns["sample"].append(seen[row["question"]])
        seen[row["question"]] += 1
    filled = [name for name, values in columns.items() if name == "response" or any(v is not None for v in values)]
    return pl.DataFrame([pl.Series(name, columns[name], _kind(name, columns[name])) for name in filled]).lazy()


def _kind(name: str, values: Iterable[Any]) -> Any:
    if name == "gold" and any(isinstance(value, list) for value in values):
        return pl.List(pl.String)
    if name in KINDS:
        return KINDS[name]
    kinds = {type(value) for value in values if value is not None}
    return pl.String if str in kinds else pl.Boolean if kinds == {bool} else pl.Float64


def count_note(rows: Sequence[Row], noun: str = "samples") -> str:
    """Return the number of questions and of responses per question.

    >>> count_note([{"question": "a"}, {"question": "a"}, {"question": "b"}]), count_note([{"question": "a"}], "epochs")
    ('2 questions, 1 to 2 samples', '1 question, 1 epoch')
    """
    per = Counter(row["question"] for row in rows).values()
    few, many = min(per), max(per)
    number = f"{many:,}" if few == many else f"{few:,} to {many:,}"
    questions = "1 question" if len(per) == 1 else f"{len(per):,} questions"
    return f"{questions}, {number} {noun if many > 1 else noun.removesuffix('s')}"


def listing(names: Iterable[str]) -> str:
    """Join names for a sentence: a, b and c."""
    *others, last = dict.fromkeys(names)
    return f"{', '.join(others)} and {last}" if others else last


def join_notes(*parts: str) -> str:
    """Join the notes that are not empty."""
    return ", ".join(part for part in parts if part)


def failure_note(rows: Sequence[Row]) -> str:
    """Return how many responses are missing; they count as samples but vote for nothing."""
    missing = sum(row.get("response") is None for row in rows)
    return f"{missing:,} of {len(rows):,} without a response" if missing else ""


def accepted_golds(rows: Sequence[Row]) -> str:
    """Make `gold` a list in every row if any row accepts several answers, and return a note; a list of one is unpacked.

    A list of texts is one of accepted answers; a list of numbers is itself an answer, as in answers/golds.py.

    >>> rows = [{"question": "a", "gold": ["NYC", "New York"]}, {"question": "b", "gold": "4"}]
    >>> accepted_golds(rows), [row["gold"] for row in rows]
    ('1 question accepts several answers', [['NYC', 'New York'], ['4']])
    """
    for row in rows:
        row["gold"] = accepted(row.get("gold"))
    several = {row["question"] for row in rows if isinstance(row["gold"], list)}
    if not several:
        return ""
    for row in rows:
        row["gold"] = [row["gold"]] if isinstance(row["gold"], str) else row["gold"]
    subject = "questions accept" if len(several) > 1 else "question accepts"
    return f"{len(several):,} {subject} several answers"


def accepted(gold: Any) -> Any:
    """Return the accepted answers of a list as texts; the only one itself, None if there is none."""
    if not isinstance(gold, list):
        return gold
    values = [entry for entry in gold if entry is not None and str(entry).strip()]
    if len(values) > 1 and not all(isinstance(value, str) for value in values):
        return json.dumps(values)
    texts = list(dict.fromkeys(str(value).strip() for value in values))
    return texts if len(texts) > 1 else next(iter(texts), None)


def within(value: Any, *names: str) -> Any:
    """Return the value at a path of names in nested objects; None if it is missing.

    >>> within({"a": {"b": 1}}, "a", "b"), within({"a": [2]}, "a", "b")
    (1, None)
    """
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def need(record: Any, name: str, kind: type | tuple[type, ...], location: str) -> Any:
    """Return a required field of a record."""
    value = within(record, name)
    if not isinstance(value, kind):
        present = isinstance(record, dict) and name in record
        problem = f"{name!r} is {type(value).__name__}" if present else f"it has no {name!r}"
        raise TableError(f"{location} is damaged ({problem}): write the file again, or remove it")
    return value


def mark(value: Any) -> Mark:
    """Convert one mark to a label, a number, or P (partly correct) and N (not attempted); None if it is none of them.

    >>> mark("C"), mark("Not_attempted"), mark("P"), mark(0.25), mark(float("nan")), mark(["C"])
    (True, 'N', 'P', 0.25, None, None)
    """
    if isinstance(value, str):
        grade = letter_of(value) or value.strip().lower()
        return grade if grade in NUMBERS else LABELS.get(grade)
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    return None


def add_marks(rows: Sequence[Row], marks: Sequence[Marks], grader: str) -> str:
    """Add a column per grader to the rows, and return a note on the columns.

    The only grader with labels becomes `correct` if it marks with letters or is the only grader: of several numeric
    graders, one with 0 and 1 may mark the format of a response.
    """
    names = list(dict.fromkeys(name for grades in marks for name, value in grades.items() if value is not None))
    labels = [name for name in names if all(grades.get(name) in (None, 0, 1, *NUMBERS) for grades in marks)]
    graded = {name for name in labels if any(grades.get(name) in NUMBERS for grades in marks)}
    scores = [name for name in names if name not in labels]
    explicit = [name for name in labels if not any(isinstance(grades.get(name), float) for grades in marks)]
    for name in names:
        for row, grades in zip(rows, marks, strict=True):
            value = grades.get(name)
            if name in labels and row.get("response") is None:
                value = False  # a missing response is not correct
            if value is not None and name not in labels:
                value = float(NUMBERS.get(value, value))
            elif value is not None and value not in NUMBERS:
                value = (CORRECT if value else INCORRECT) if name in graded else bool(value)
            row[_column(name, grader)] = value
    chosen = labels if len(names) == 1 else explicit if len(labels) == 1 else []
    label_note = _use_as_labels(rows, chosen[0], grader) if chosen else _candidates_note(labels, grader)
    return join_notes(label_note, f"scores from {listing(scores)}" if scores else "")


def _candidates_note(labels: Sequence[str], grader: str) -> str:
    """Return a note on the columns that could be the labels."""
    columns = [_column(name, grader) for name in labels]
    if not columns:
        return ""
    subject = f"{grader}s {listing(columns)} say" if len(columns) > 1 else f"{grader} {columns[0]} says"
    return f"{subject} yes or no (to read the labels from one: {argument('rename', {columns[0]: 'correct'})})"


def _use_as_labels(rows: Sequence[Row], name: str, grader: str) -> str:
    """Use the labels of a grader as `correct`, unless a response has none."""
    column = _column(name, grader)
    unmarked = sum(row[column] is None for row in rows)
    if unmarked:
        return f"{grader} {name} not used as correct, because it left {unmarked:,} responses unscored"
    counts = Counter(row[column] for row in rows)
    for row in rows:
        value = row.pop(column)
        row["correct"] = value in (True, CORRECT)
        if isinstance(value, str):
            row[GRADE] = value
    partial = partial_note(counts[PARTIAL]) if counts[PARTIAL] else ""
    not_attempted = f"{counts[NOT_ATTEMPTED]:,} not attempted" if counts[NOT_ATTEMPTED] else ""
    return join_notes(f"correct from {grader} {name}", partial, not_attempted)


def _column(name: str, grader: str) -> str:
    """Return the column name of a grader, different from the standard names."""
    return f"{grader} {name}" if name in KINDS else name
