"""Grades of responses as graders write them: C, I, P, N of Inspect, or CORRECT, INCORRECT, PARTIAL, NOT_ATTEMPTED.

A partly correct response counts as not correct. "Not attempted" is a state of its own, beside correct and incorrect:
only evaluations use it, because at vote time a grade would leak the label.
"""

from __future__ import annotations

import warnings

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import SteelyardNote, SteelyardWarning
from steelyard.tables.names import columns_named, key

GRADE = "grade"
ATTEMPTED = "attempted"  # column of a batch while it is read
CORRECT, INCORRECT, PARTIAL, NOT_ATTEMPTED = "C", "I", "P", "N"
GRADES = {
    "c": CORRECT, "correct": CORRECT, "i": INCORRECT, "incorrect": INCORRECT, "p": PARTIAL, "partial": PARTIAL,
    "partially_correct": PARTIAL, "partly_correct": PARTIAL, "n": NOT_ATTEMPTED, "not_attempted": NOT_ATTEMPTED,
}  # fmt: skip
OF_SIMPLEQA = {"A": CORRECT, "B": INCORRECT, "C": NOT_ATTEMPTED}  # refused, because C means something else here
NAMED = 3  # values in a message
GRADER_NAMES = {GRADE, "grader"}  # parts of the names of columns of several graders: grade_a, gpt_grade


def letter_of(text: str) -> str | None:
    """Return a grade as a letter; None if the text is not a grade.

    >>> letter_of("Not attempted"), letter_of(" CORRECT"), letter_of("yes")
    ('N', 'C', None)
    """
    return GRADES.get(key(text))


def folded(column: pl.Expr) -> pl.Expr:
    """Normalise the case and separators of words, so that "Not attempted" is "not_attempted"."""
    return column.str.strip_chars().str.to_lowercase().str.replace_all(r"[\s-]+", "_")


def letters(column: pl.Expr) -> pl.Expr:
    """Convert grades to letters; null if a word is not a grade."""
    return folded(column).replace_strict(GRADES, default=None, return_dtype=pl.String)


def are_grades(frame: pl.LazyFrame, name: str) -> bool:
    """Whether a text column contains grades and nothing else."""
    text = pl.col(name)
    counts = frame.select(text.count().alias("texts"), letters(text).count().alias("grades"))
    texts, grades = counts.collect(engine="streaming").row(0)
    return bool(texts) and texts == grades


def attempted_columns(frame: pl.LazyFrame, schema: pl.Schema) -> list[pl.Expr]:
    """Return a column that says which responses were attempted; none if no grade says that one was not.

    The grades are those of a column `grade`, or of `correct` if it is text. A note reports partly correct responses,
    and a warning a column `grade` without grades.
    """
    _warn_of_unread_grades(frame, schema)
    names = [name for name in (*columns_named(schema, {GRADE}), "correct") if schema.get(name) == pl.String]
    name = next((name for name in names if are_grades(frame, name)), None)
    if name is None:
        return []
    counted = letters(pl.col(name)).value_counts().struct.unnest()
    counts = dict(frame.select(counted).collect(engine="streaming").iter_rows())
    if counts.get(PARTIAL) and schema.get("correct") == pl.String:
        warnings.warn(partial_note(counts[PARTIAL]), SteelyardNote, stacklevel=2)
    attempted = letters(pl.col(name)).fill_null(INCORRECT) != NOT_ATTEMPTED
    return [attempted.alias(ATTEMPTED)] if counts.get(NOT_ATTEMPTED) else []


def _warn_of_unread_grades(frame: pl.LazyFrame, schema: pl.Schema) -> None:
    """Warn of a text column `grade` in a table without labels whose values are not grades."""
    names = [name for name in columns_named(schema, {GRADE}) if schema[name] == pl.String]
    if {"correct", "gold"} & set(schema) or not names:
        return
    values = pl.col(names[0]).drop_nulls().unique(maintain_order=True)
    unread = frame.select(values).filter(letters(pl.col(names[0])).is_null()).head(NAMED).collect(engine="streaming")
    if not unread.height:
        return
    listed = ", ".join(f"{value!r:.30}" for value in unread.to_series().sort())
    simpleqa = set(unread.to_series().str.strip_chars()) <= set(OF_SIMPLEQA)
    mapping = OF_SIMPLEQA if simpleqa else {unread.item(0, 0)[:30]: CORRECT}
    replaced = f"pl.col({names[0]!r}).replace({mapping})"
    warnings.warn(
        f"the column {names[0]!r} contains {listed} and is not read as labels: it takes C, I, N or correct, "
        f"incorrect, not attempted. Map its values in the file, in polars by {replaced}",
        SteelyardWarning,
        stacklevel=3,
    )


def partial_note(count: int) -> str:
    """Report partly correct responses."""
    subject, verb = ("responses are", "count") if count > 1 else ("response is", "counts")
    return f"{count:,} {subject} graded partly correct and {verb} as not correct"


def grader_columns(frame: pl.LazyFrame, schema: pl.Schema) -> list[str]:
    """Return the columns in which several graders grade every response, such as grade_a and grade_b."""
    named = [name for name, kind in schema.items() if kind == pl.String and GRADER_NAMES & set(key(name).split("_"))]
    return [name for name in named if are_grades(frame, name)]


def choose_note(columns: list[str]) -> str:
    """Say how to choose among the columns of several graders."""
    listed = " and ".join((", ".join(map(repr, columns[:-1])), repr(columns[-1])))
    return f"{listed} grade the responses (to read the labels from one: {argument('rename', {columns[0]: 'correct'})})"
