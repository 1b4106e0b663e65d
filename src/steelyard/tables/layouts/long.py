"""One row per response, with standard column names or known aliases."""

from __future__ import annotations

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError
from steelyard.tables.chat_texts import flattened, with_step_scores
from steelyard.tables.gold_or_answer import (
    check_answer_is_gold,
    check_gold_alone,
    check_label_of_questions,
    check_unknown_lists,
)
from steelyard.tables.label_words import are_labels
from steelyard.tables.letter_case import option_columns
from steelyard.tables.list_answers import with_list_answers
from steelyard.tables.mixed_tasks import separate_tasks
from steelyard.tables.names import (
    ANSWERS,
    GOLDS,
    LABELS,
    LATE_GOLDS,
    QUESTION_IDS,
    QUESTION_TEXTS,
    RESPONSES,
    ROW_IDS,
    accepted_lists,
    columns_named,
    first_of,
    is_label,
    key,
    only,
)
from steelyard.tables.percentages import in_percent, with_shares
from steelyard.tables.recognition import Converted, Layout, Opened


class Long(Layout):
    name = "long"
    title = "long table"
    about = "any table: one row per response, by the names of docs/table.md or known others (prompt, completion, ..)"
    turn = 9  # last: it accepts any table

    def recognises(self, opened: Opened) -> bool:
        frame = opened.frame()
        check_unknown_lists(frame.collect_schema())
        check_gold_alone(frame)
        return True

    def read(self, opened: Opened) -> Converted:
        frame = with_list_answers(with_step_scores(flattened(opened.frame())))
        percent = in_percent(frame)
        frame = with_shares(frame, percent)
        schema = frame.collect_schema()
        flat = [name for name, kind in schema.items() if not kind.is_nested()]
        columns = _texts(schema, flat) | _labels(frame, schema, flat) | option_columns(schema)
        question = None if "question" in schema else _question(frame, flat)
        if question:
            columns["question"] = question
        notes = [f"{theirs!r} read as {ours!r}" for ours, theirs in columns.items()]
        notes += [f"{name!r} read as percent (87 % is 0.87)" for name in percent]
        frame = frame.with_columns(pl.col(theirs).alias(ours) for ours, theirs in columns.items())
        if "correct" in columns or schema.get("correct") == pl.String:
            check_label_of_questions(frame, columns.get("correct", "correct"))
        check_answer_is_gold(frame)
        frame, task_note = separate_tasks(frame)
        return Converted(frame, ", ".join([*notes, *([task_note] if task_note else [])]))


def _texts(schema: pl.Schema, flat: list[str]) -> dict[str, str]:
    """Return the columns of the response and its answer, for a table that has neither under its standard name."""
    if "answer" in schema or "response" in schema:
        return {}
    matches = {
        ours: only(columns_named(flat, aliases), ours)
        for ours, aliases in (("response", RESPONSES), ("answer", ANSWERS))
    }
    return {ours: theirs for ours, theirs in matches.items() if theirs}


def _labels(frame: pl.LazyFrame, schema: pl.Schema, flat: list[str]) -> dict[str, str]:
    """Return the column with labels or gold answers, for a table that has neither `correct` nor `gold`."""
    if "correct" in schema or "gold" in schema:
        return {}
    labels = [name for name in columns_named(flat, LABELS) if _has_labels(frame, name)]
    correct = only(labels, "correct")
    if correct:
        return {"correct": correct}
    gold = first_of(flat, (GOLDS,), "gold") or only(
        [name for name in columns_named(flat, LATE_GOLDS) if schema[name] == pl.String], "gold"
    )
    gold = gold or only(accepted_lists(schema), "gold")
    return {"gold": gold} if gold else {}


def _has_labels(frame: pl.LazyFrame, name: str) -> bool:
    """Whether a column contains labels: true and false, 1 and 0, or words for them."""
    kind = frame.collect_schema()[name]
    if kind == pl.String:
        return are_labels(frame, name, judged=key(name) in LATE_GOLDS)
    return is_label(kind) and _is_binary(frame, name)


def _is_binary(frame: pl.LazyFrame, name: str) -> bool:
    return bool(frame.select(pl.col(name).cast(pl.Float64).is_in([0.0, 1.0]).all()).collect(engine="streaming").item())


def _question(frame: pl.LazyFrame, flat: list[str]) -> str | None:
    """Return the column that identifies the question: its id, or its text if the id is that of a row."""
    question_id, texts = first_of(flat, (QUESTION_IDS,), "question"), columns_named(flat, QUESTION_TEXTS)
    id_column = question_id or only(columns_named(flat, ROW_IDS), "question")
    if not id_column:
        return only(texts, "question")
    if not texts:
        return id_column
    counts = frame.select(
        pl.len(), pl.col(id_column).n_unique().alias("ids"), pl.struct(texts).n_unique().alias("texts")
    )
    size, ids, distinct = counts.collect(engine="streaming").row(0)
    if ids == size and distinct < size:  # the id numbers the rows
        return only(texts, "question")
    if ids != distinct and not question_id:
        raise ColumnError(
            f"several columns could be 'question': {', '.join((id_column, *texts))}, and they disagree on which rows "
            f"are the same question; choose one with {argument('rename', {id_column: 'question'})}"
        )
    return id_column
