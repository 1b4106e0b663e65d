"""Question files in Steelyard's format or a published one -> a table with question, prompt, gold and domain.

`question` is the id, `prompt` the text; without `gold`, answers can be voted on but not evaluated.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import (
    ColumnError,
    LabelError,
    SettingError,
    SteelyardWarning,
    TableError,
    did_you_mean,
    need_numbers,
)
from steelyard.tables.published_sets import Layout, from_hub, is_hub_name, layout_of
from steelyard.tables.responses import renamed
from steelyard.tables.sources.file_checks import reading
from steelyard.tables.sources.opening import open_table

COLUMNS = ("question", "prompt", "gold", "domain")
LONGEST_TEXT = 1 << 20  # bytes of one field
OWN = Layout("own", "math", lambda table: table)
_LETTER = re.compile(r"[A-J]")


@dataclass(frozen=True)
class Questions:
    """The table, the name of its format, and the built-in prompt for it."""

    table: pl.DataFrame
    layout: str
    prompt: str


def read_questions(source: str | Path, *, rename: dict[str, str] | None = None, limit: int | None = None) -> Questions:
    """Read questions from a file, or from the hub by name; `limit` keeps only the first ones."""
    need_numbers(limit=limit)
    if limit is not None and limit < 1:
        raise SettingError(f"cannot take the first {limit} questions: --limit must be at least 1")
    name = str(source)
    try:
        with reading(name):
            loaded = from_hub(name) if is_hub_name(name) else open_table(Path(source)).collect()
            table = renamed(loaded.lazy(), rename or {}).collect()
            _check_sizes(table)
            layout = layout_of(table) or OWN
            table = _checked(layout.read(table))
    except TableError as error:
        raise error if name in str(error) else type(error)(f"{name}: {error}") from None
    if limit is not None:
        table = table.head(limit)
    letters = layout is OWN and "gold" in table.columns and all(_LETTER.fullmatch(gold) for gold in table["gold"])
    return Questions(table, layout.name, "choice" if letters else layout.prompt)


def fingerprint(table: pl.DataFrame) -> str:
    """Return the SHA-256 of questions, independent of the format of their file."""
    digest = hashlib.sha256(json.dumps(table.columns).encode())
    for row in table.iter_rows():
        digest.update(json.dumps(row).encode())
    return digest.hexdigest()


def _check_sizes(table: pl.DataFrame) -> None:
    """Refuse a text too long for any model, before anything processes it."""
    for name, kind in table.schema.items():
        column = pl.col(name).list.join("") if kind == pl.List(pl.String) else pl.col(name)
        if kind in (pl.String, pl.List(pl.String)):
            sizes = table.select(column.str.len_bytes().fill_null(0)).to_series()
            if len(sizes) and (row := sizes.arg_max()) is not None and sizes[row] > LONGEST_TEXT:
                raise ColumnError(
                    f"row {row + 1} has a text of {sizes[row]:,} bytes in {name!r:.60}, more than {LONGEST_TEXT:,}: "
                    "shorten it, or remove the row or the column"
                )


def _checked(table: pl.DataFrame) -> pl.DataFrame:
    """Return the standard columns as text; ids must be unique, and nothing required may be blank."""
    if not table.height:
        raise TableError("there are no questions: the table is empty")
    for name, meaning in (("question", "its id"), ("prompt", "its text")):
        if name not in table.columns:
            raise ColumnError(_missing(name, meaning, table.columns))
    for name in COLUMNS:
        if name in table.columns and (table[name].dtype.is_nested() or table[name].dtype == pl.Object):
            raise ColumnError(f"the column {name!r} contains {table[name].dtype}, not one text per row")
    questions = table.select(pl.col(name).cast(pl.String) for name in COLUMNS if name in table.columns)
    questions = questions.with_columns(pl.exclude("prompt").str.strip_chars())  # prompts are sent unchanged
    if "gold" in questions.columns and questions["gold"].null_count() == questions.height:
        questions = questions.drop("gold")
    _check_rows(questions)
    if "gold" not in questions.columns:
        message = "the questions have no column 'gold': answers can be voted on, but not evaluated or calibrated on"
        warnings.warn(message, SteelyardWarning, stacklevel=3)
    return questions


def _check_rows(questions: pl.DataFrame) -> None:
    for name in ("question", "prompt", "gold"):
        blank = (
            questions[name].fill_null("").str.strip_chars() == "" if name in questions.columns else pl.Series([False])
        )
        if blank.any():
            fix = "give every question its own" if name != "gold" else "add it, or remove the question"
            raise (LabelError if name == "gold" else ColumnError)(
                f"row {(blank.arg_max() or 0) + 1} has no {name!r}: {fix}"
            )
    twice = questions["question"].filter(questions["question"].is_duplicated())
    if len(twice):
        rows = [i + 1 for i, value in enumerate(questions["question"]) if value == twice[0]]
        raise ColumnError(
            f"the id {twice[0]!r:.60} is used in rows {rows[0]} and {rows[1]}: give every question its own"
        )


def _missing(name: str, meaning: str, columns: list[str]) -> str:
    if name == "prompt" and "question" in columns:
        return (
            "there is no column 'prompt': 'question' is the id and 'prompt' the text; if 'question' is your text, "
            f"rename it ({argument('rename', {'yours': 'prompt'})}) and add ids"
        )
    near = did_you_mean(name, columns)
    return f"there is no column {name!r} ({meaning}): rename one ({argument('rename', {'yours': name})}); {near}"
