"""One row per response, with standard column names or known aliases."""

from __future__ import annotations

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError
from steelyard.tables import names
from steelyard.tables.cell_values import flattened, in_percent, with_list_answers, with_shares, with_step_scores
from steelyard.tables.columns import option_columns
from steelyard.tables.grades import GRADE, choose_note, grader_columns
from steelyard.tables.labels import (
    are_labels,
    check_answer_is_gold,
    check_gold_alone,
    check_label_of_questions,
    check_unknown_lists,
)
from steelyard.tables.layout_rows import join_notes
from steelyard.tables.names import accepted_lists, columns_named, first_of, is_label, key, only
from steelyard.tables.recognition import Converted, Layout, Opened

TASKS = ("task", "task_name", "benchmark", "dataset", "subset", "domain", "subject", "category")
MIN_IDS = 5  # ids in several tasks whose golds all agree, to treat them as the same questions
_ID = r"^\S{1,40}$"  # longer, or with spaces, it is the text of a question


class Long(Layout):
    name = "long"
    title = "long table"
    description = (
        "any table: one row per response, by the names of docs/table.md or known others (prompt, completion, ..)"
    )
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
        labels, graders = _labels(frame, schema, flat)
        columns = _texts(schema, flat) | labels | option_columns(schema)
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
        return Converted(frame, join_notes(*notes, graders, task_note))


def _texts(schema: pl.Schema, flat: list[str]) -> dict[str, str]:
    """Return the columns of the response and its answer, for a table that has neither under its standard name."""
    if "answer" in schema or "response" in schema:
        return {}
    matches = {
        ours: only(columns_named(flat, aliases), ours)
        for ours, aliases in (("response", names.RESPONSES), ("answer", names.ANSWERS))
    }
    return {ours: theirs for ours, theirs in matches.items() if theirs}


def _labels(frame: pl.LazyFrame, schema: pl.Schema, flat: list[str]) -> tuple[dict[str, str], str]:
    """Return the column with labels or gold answers, for a table that has no `correct`, and a note on other graders.

    A `grade` of every response (C, I, P or N) is a label also beside gold answers: a grader has compared them.
    """
    if "correct" in schema:
        return {}, ""
    grades = [name for name in columns_named(flat, {GRADE}) if schema[name] == pl.String and are_labels(frame, name)]
    if grades:
        return {"correct": grades[0]}, ""
    graders = grader_columns(frame, schema)
    if len(graders) == 1:
        return {"correct": graders[0]}, ""
    return _labels_or_golds(frame, schema, flat), choose_note(graders) if graders else ""


def _labels_or_golds(frame: pl.LazyFrame, schema: pl.Schema, flat: list[str]) -> dict[str, str]:
    """Return the column with labels or gold answers, for a table that has neither `correct` nor `gold`."""
    if "gold" in schema:
        return {}
    labels = [name for name in columns_named(flat, names.LABELS) if _has_labels(frame, name)]
    correct = only(labels, "correct")
    if correct:
        return {"correct": correct}
    gold = first_of(flat, (names.GOLDS,), "gold") or only(
        [name for name in columns_named(flat, names.LATE_GOLDS) if schema[name] == pl.String], "gold"
    )
    gold = gold or only(accepted_lists(schema), "gold")
    return {"gold": gold} if gold else {}


def _has_labels(frame: pl.LazyFrame, name: str) -> bool:
    """Whether a column contains labels: true and false, 1 and 0, or words for them."""
    kind = frame.collect_schema()[name]
    if kind == pl.String:
        return are_labels(frame, name, judged=key(name) in names.LATE_GOLDS)
    binary = pl.col(name).cast(pl.Float64).is_in([0.0, 1.0]).all()
    return is_label(kind) and bool(frame.select(binary).collect(engine="streaming").item())


def _question(frame: pl.LazyFrame, flat: list[str]) -> str | None:
    """Return the column that identifies the question: its id, or its text if the id is that of a row."""
    question_id, texts = first_of(flat, (names.QUESTION_IDS,), "question"), columns_named(flat, names.QUESTION_TEXTS)
    id_column = question_id or only(columns_named(flat, names.ROW_IDS), "question")
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


def separate_tasks(frame: pl.LazyFrame) -> tuple[pl.LazyFrame, str]:
    """Return a table with the task in its question ids where they are ambiguous, and a note about it.

    Several tasks in one table may each number their questions 0, 1, 2, ..: ids that occur in several tasks become
    TASK/ID, unless the text of the question, or without texts its gold answer, is the same in all tasks.
    """
    schema = frame.collect_schema()
    flat = [name for name, kind in schema.items() if kind == pl.String or kind.is_integer()]
    task = next((match[0] for alias in TASKS if (match := columns_named(flat, {alias}))), None)
    if task is None or "question" not in flat or task == "question":
        return frame, ""
    texts = [name for name in columns_named(flat, names.QUESTION_TEXTS) if schema[name] == pl.String]
    evidence = texts or [name for name in ("gold",) if name in flat]
    ids = frame.filter(pl.col("question").cast(pl.String).str.contains(_ID)).group_by("question")
    counts = ids.agg(
        pl.col(task).drop_nulls().n_unique().alias("tasks"), pl.col(evidence).n_unique().name.prefix("of ")
    )
    shared = counts.filter(pl.col("tasks") > 1).collect(engine="streaming")
    if not shared.height or _same(shared, [f"of {name}" for name in evidence], bool(texts)):
        return frame, ""
    full_id = pl.concat_str(
        pl.col(task).cast(pl.String).fill_null("none"), pl.lit("/"), pl.col("question").cast(pl.String)
    )
    subject = "id means" if shared.height == 1 else "ids mean"
    note = f"{shared.height:,} {subject} a different question in each {task!r}, so questions are read as {task}/id"
    return frame.with_columns(full_id.alias("question")), note


def _same(shared: pl.DataFrame, evidence: list[str], texts: bool) -> bool:
    """Whether the ids in several tasks mean the same questions."""
    agree = bool(evidence) and all((shared[name] == 1).all() for name in evidence)
    return agree and (texts or shared.height >= MIN_IDS)
