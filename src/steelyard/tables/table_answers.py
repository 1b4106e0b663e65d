"""The answers of a table: how each was read, evidence for their kind, and placeholders for a missing answer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import polars as pl

from steelyard.answers import annotated
from steelyard.answers.annotated import Reading
from steelyard.answers.doubtful_answers import PLACEHOLDERS, folded_column
from steelyard.answers.extract import AUTO
from steelyard.answers.golds import ITEM, LIST
from steelyard.answers.kind_choice import Evidence, KindChoice
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.errors import RunError, TableError
from steelyard.runs.feedback_settings import is_feedback, read_settings
from steelyard.tables.columns import check_columns
from steelyard.tables.labels import label_expression
from steelyard.tables.responses import open_responses
from steelyard.tables.source_column import folders_of, manifest_of
from steelyard.tables.sources.file_checks import name_in_errors, reading

GOLD_ROWS = 100_000  # rows whose golds are inspected
GOLDS = 2_000  # of different questions
TEXT_ROWS = 4_000  # rows of which some answers or responses are inspected
TEXTS = 500
OF_A_RUN = {"response", "sample", "tokens"}  # columns of a run, whose answers were read from its responses


def read_answers(
    source: Any,
    *,
    answers: str = AUTO,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Reading:
    """Read and group the answers of a table: `.table` has all its columns, `.rules` and `.merged` describe the answers.

    >>> import polars as pl, steelyard as sy
    >>> table = pl.DataFrame({"question": "a", "response": ["So it is 1/2.", "The answer is 0.5", "I do not know"]})
    >>> read = sy.read_answers(table)
    >>> read.table["answer"].to_list(), read.merged["spellings"].to_list(), read.unreadable
    (['1/2', '0.5', None], [['1/2', '0.5']], 1)
    """
    reader = AnswerReader(answers)
    try:
        with name_in_errors(source) as name, reading(name):
            table = open_responses(source, layout, rename).collect()
            check_columns(table.schema)
            if not table.height:
                raise TableError(f"{name} is empty: it has no rows to read")
            reader.look(lambda: evidence_of(source, table.lazy()))
            settle_placeholders(table.lazy(), reader)
            return annotated.read_answers(table, reader, progress)
    finally:
        reader.close()


def evidence_of(table: Any, frame: pl.LazyFrame) -> Evidence | KindChoice:
    """Return what decides the kind of answers in a table with standard column names."""
    if (choice := kind_of_run(table)) is not None:
        return choice
    evidence, schema = evidence_in(frame), frame.collect_schema()
    if "correct" not in schema or "answer" in schema or schema.get("response") != pl.String:
        return evidence
    from steelyard.answers.auto_kind import choose_kind
    from steelyard.tables.graded_text import free_text

    choice = choose_kind(evidence)
    gold = text_expression("gold", schema["gold"]) if evidence.golds else None
    return free_text(frame, choice, gold) or choice


def evidence_in(frame: pl.LazyFrame) -> Evidence:
    """Return the golds of a table, one per question, and functions that load some of its answers or responses."""
    schema = pl.Schema({name: kind for name, kind in frame.collect_schema().items() if _is_text(name, kind)})
    golds: list[str] = []
    if "gold" in schema:
        columns = [text_expression(name, schema[name]) for name in ("question", "gold") if name in schema]
        rows = frame.select(columns).head(GOLD_ROWS).collect().drop_nulls("gold")
        unique = rows.unique("question", keep="first", maintain_order=True) if "question" in schema else rows
        golds = unique["gold"].head(GOLDS).to_list()

    def texts(name: str) -> list[str]:
        column = frame.select(text_expression(name, schema[name])).head(TEXT_ROWS).collect()[name].drop_nulls()
        return column.gather_every(max(1, len(column) // TEXTS)).head(TEXTS).to_list()

    if "answer" in schema:
        return Evidence(golds, answers=lambda: texts("answer"))
    return Evidence(golds, responses=(lambda: texts("response")) if "response" in schema else None)


def _is_text(name: str, kind: pl.DataType) -> bool:
    """Whether a column contains one text or number per row; golds may be lists of them."""
    if name == "gold" and isinstance(kind, pl.List | pl.Array):
        return not kind.inner.is_nested()
    return not kind.is_nested() and kind != pl.Object


def text_expression(name: str, kind: pl.DataType) -> pl.Expr:
    """Return a column as text; a list of accepted gold answers becomes one text."""
    if isinstance(kind, pl.List | pl.Array):
        items = pl.col(name).cast(pl.List(pl.String)).list.drop_nulls()
        texts = items.list.join(ITEM)
        blank = (texts == "") & (
            items.list.len() > 0
        )  # a list of one empty text accepts it; an empty list accepts nothing
        return (pl.lit(LIST) + pl.when(blank).then(pl.lit(ITEM)).otherwise(texts)).alias(name)
    return pl.col(name) if kind == pl.String else pl.col(name).cast(pl.String)


def kind_of_run(table: Any) -> KindChoice | None:
    """Return the kind of answers recorded by a run of `generate` or a feedback folder; None for anything else."""
    for folder in folders_of(table):
        with suppress(RunError, OSError, ValueError):
            if is_feedback(folder) and (kind := read_settings(folder).answers) != AUTO:
                return KindChoice(kind, f"{folder} contains feedback on this kind")
        manifest = manifest_of(folder)
        if manifest is not None and manifest.rows is None:
            return KindChoice(manifest.answers, f"{folder} was generated with this kind")
    return None


def settle_placeholders(frame: pl.LazyFrame, reader: AnswerReader) -> None:
    """Set the placeholders of a reader, unless they are set; answers read from responses have none."""
    if reader.placeholders is not None:
        return
    schema = frame.collect_schema()
    has_answers = schema.get("answer") == pl.String and reader.drops_placeholders and not set(schema) >= OF_A_RUN
    reader.placeholders = PLACEHOLDERS - _answers(frame, schema) if has_answers else frozenset()


def _answers(frame: pl.LazyFrame, schema: pl.Schema) -> frozenset[str]:
    """Return the placeholders that are a gold answer or labelled correct."""
    columns = []
    if schema.get("gold") in (pl.String, pl.List(pl.String)):
        gold = pl.col("gold") if schema["gold"] == pl.String else pl.col("gold").explode()
        columns.append(frame.select(folded_column(gold).alias("word")))
    label = label_expression(schema)
    if label is not None:
        columns.append(frame.filter(label).select(folded_column(pl.col("answer")).alias("word")))
    if not columns:
        return frozenset()
    used = pl.concat(columns).filter(pl.col("word").is_in(sorted(PLACEHOLDERS))).unique()
    return frozenset(used.collect(engine="streaming")["word"])
