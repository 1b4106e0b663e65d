"""Several tasks in one table, each with its own questions 0, 1, 2, ..: the same id then stands for several questions.

Ids that stand in several tasks are told apart as TASK/ID, unless the table shows that they are the same question: its
text is the same in all tasks, or, without texts, its gold answer.
"""

from __future__ import annotations

import polars as pl

from steelyard.tables.names import QUESTION_TEXTS, named

TASKS = ("task", "task_name", "benchmark", "dataset", "subset", "domain", "subject", "category")
ENOUGH = 5  # ids in several tasks whose golds all agree, before they are taken for the same questions
_ID = r"^\S{1,40}$"  # longer, or with spaces, it is the text of a question


def apart_by_task(frame: pl.LazyFrame) -> tuple[pl.LazyFrame, str]:
    """Return a table whose questions are told apart by their task, where they must be, and what to say about it."""
    schema = frame.collect_schema()
    flat = [name for name, kind in schema.items() if kind == pl.String or kind.is_integer()]
    task = next((match[0] for known in TASKS if (match := named(flat, {known}))), None)
    if task is None or "question" not in flat or task == "question":
        return frame, ""
    texts = [name for name in named(flat, QUESTION_TEXTS) if schema[name] == pl.String]
    evidence = texts or [name for name in ("gold",) if name in flat]
    ids = frame.filter(pl.col("question").cast(pl.String).str.contains(_ID)).group_by("question")
    counts = ids.agg(
        pl.col(task).drop_nulls().n_unique().alias("tasks"), pl.col(evidence).n_unique().name.prefix("of ")
    )
    shared = counts.filter(pl.col("tasks") > 1).collect(engine="streaming")
    if not shared.height or _same(shared, [f"of {name}" for name in evidence], bool(texts)):
        return frame, ""
    whole = pl.concat_str(
        pl.col(task).cast(pl.String).fill_null("none"), pl.lit("/"), pl.col("question").cast(pl.String)
    )
    verb = "id stands" if shared.height == 1 else "ids stand"
    note = f"{shared.height:,} {verb} for a question of its own in each {task!r}, and questions are read as {task}/id"
    return frame.with_columns(whole.alias("question")), note


def _same(shared: pl.DataFrame, evidence: list[str], texts: bool) -> bool:
    """Whether the ids of several tasks stand for the same questions."""
    agree = bool(evidence) and all((shared[name] == 1).all() for name in evidence)
    return agree and (texts or shared.height >= ENOUGH)
