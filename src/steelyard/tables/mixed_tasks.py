"""Several tasks in one table that each number their questions 0, 1, 2, ..: one id then means several questions.

Ids that occur in several tasks become TASK/ID, unless the table shows that they are the same question: its text is the
same in all tasks, or, without texts, its gold answer.
"""

from __future__ import annotations

import polars as pl

from steelyard.tables.names import QUESTION_TEXTS, columns_named

TASKS = ("task", "task_name", "benchmark", "dataset", "subset", "domain", "subject", "category")
MIN_IDS = 5  # ids in several tasks whose golds all agree, to treat them as the same questions
_ID = r"^\S{1,40}$"  # longer, or with spaces, it is the text of a question


def separate_tasks(frame: pl.LazyFrame) -> tuple[pl.LazyFrame, str]:
    """Return a table with the task in its question ids where they are ambiguous, and a note about it."""
    schema = frame.collect_schema()
    flat = [name for name, kind in schema.items() if kind == pl.String or kind.is_integer()]
    task = next((match[0] for alias in TASKS if (match := columns_named(flat, {alias}))), None)
    if task is None or "question" not in flat or task == "question":
        return frame, ""
    texts = [name for name in columns_named(flat, QUESTION_TEXTS) if schema[name] == pl.String]
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
