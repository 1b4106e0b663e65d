"""Long tables -> pools, a batch of whole questions at a time: memory follows the arrays, not the text."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.answers.reader import AnswerReader
from steelyard.errors import ColumnError, SteelyardError, SteelyardWarning, TableError, did_you_mean
from steelyard.pools.pool import Origin, Pool
from steelyard.tables.columns import check_columns, label_expression
from steelyard.tables.pools_from_frames import join
from steelyard.tables.question_batches import pools
from steelyard.tables.row_order import in_order
from steelyard.tables.score_parts import Scores, choose_scores
from steelyard.tables.source_column import single_llm, source_code, source_names
from steelyard.tables.sources.bundled_grid import grid_score
from steelyard.tables.sources.damage import reading
from steelyard.tables.sources.opening import open_table


def read(
    table: Any,
    *,
    score: str | None = None,
    source: str | None = None,
    rename: dict[str, str] | None = None,
    answers: str = "math",
    need_score: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Pool:
    """Read a table of responses into a pool: a LabelledPool when it has `correct` or `gold`.

    `table` is a path (.parquet, .jsonl, .csv, .arrow, or a run folder), `grid:LLM/VERIFIER` for bundled responses, or
    a table of polars, pandas, pyarrow, DuckDB or datasets. `score` names the verifier's column,
    `prm:min` reduces a list of step scores, `sigmoid(prm)` turns logits into scores, `prm+self` reads two
    for a method to mix, `prm:*` every reducer of the steps, `none` reads no score; with `need_score=False`
    a table without a clear score is read without one. `source` names the column that says who answered, such as `llm`:
    the pool then knows who said what, for the methods `committee` and `consensus`. `rename` maps your column names
    to Steelyard's.
    `answers` is the kind of answer: math, number, choice, text, re:PATTERN or exact; it decides how
    answers are read out of a column `response` and which of them are the same.
    `progress` is called with the share of the rows that were read. `read_labelled` does the same for a table that
    must have labels.

    >>> import steelyard as sy
    >>> sy.read(sy.simulate(questions=20, samples=4), score="score")
    LabelledPool(20 questions, 80 responses, 2 unreadable, score score)
    """
    options: dict[str, Any] = {"score": score, "source": source, "rename": rename, "need_score": need_score}
    return join(list(pools_of(table, answers=answers, progress=progress, **options)))


def pools_of(
    table: Any,
    *,
    score: str | None = None,
    source: str | None = None,
    rename: dict[str, str] | None = None,
    answers: str | AnswerReader = "math",
    need_score: bool = True,
    labels: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Generator[Pool]:
    """Read a table of any length as pools of whole questions, each question in one of them.

    Memory is bounded when the rows of a question stand together; a table in another order is
    sorted first. Which it is, is settled before the first pool is made.
    """
    reader = AnswerReader(answers) if isinstance(answers, str) else answers
    try:
        with named(table) as name, reading(name):
            frame = renamed(open_table(table), rename or {})
            schema = frame.collect_schema()
            check_columns(schema)
            others = pl.Schema({column: kind for column, kind in schema.items() if column != source})
            chosen = choose_scores(others, grid_score(table) if score is None else score, need_score)
            parts = chosen.names if len(chosen.names) > 1 else ()
            sources = source_names(frame, schema, source)
            origin = Origin(chosen.name, single_llm(frame, schema, source), name, parts, source)
            wanted = _wanted(schema, chosen, labels)
            if source is not None and sources:
                wanted.append(source_code(source, sources))
            rows = in_order(frame, wanted)
            if not len(rows.order.questions):
                raise TableError(f"{name} is empty: it has no rows to read")
            yield from pools(rows, origin, reader, progress, sources)
    finally:
        reader.close()
    reader.warn()


@contextmanager
def named(source: Any) -> Iterator[str]:
    """Say in every error which table it is about; yield its name."""
    name = str(source) if isinstance(source, str | Path) else "the table"
    try:
        yield name
    except SteelyardError as error:
        raise error if name in str(error) else type(error)(f"{name}: {error}") from None


def renamed(frame: pl.LazyFrame, rename: dict[str, str]) -> pl.LazyFrame:
    """Give columns our names; a column that had the name before goes."""
    names = frame.collect_schema().names()
    for old in rename:
        if old not in names:
            raise ColumnError(f"cannot rename {old!r}, there is no such column: {did_you_mean(old, names)}")
    replaced = [new for new in rename.values() if new in names and new not in rename]
    if replaced:
        warnings.warn(f"renaming replaces the columns {', '.join(replaced)}", SteelyardWarning, stacklevel=2)
    return frame.drop(replaced).rename(rename)


def _wanted(schema: pl.Schema, scores: Scores, labels: bool) -> list[pl.Expr]:
    """What a pool needs: question, answer (or response) and, where there are such, sample, scores, labels."""
    text = ["question", "answer" if "answer" in schema else "response"]
    if labels and "correct" not in schema and "gold" in schema:
        text.append("gold")
    for name in text:
        if schema[name].is_nested() or schema[name] == pl.Object:
            raise ColumnError(f"the column {name!r} holds {schema[name]}, not one text or number a row")
    wanted = [pl.col(name) if schema[name] == pl.String else pl.col(name).cast(pl.String) for name in text]
    if "sample" in schema:
        if not (schema["sample"].is_integer() or schema["sample"] == pl.Null):
            raise ColumnError(f"the column 'sample' holds {schema['sample']}, not whole numbers 0, 1, 2, ..")
        wanted.append(pl.col("sample").cast(pl.Int64))
    wanted += scores.expressions()
    label = label_expression(schema) if labels else None
    if label is not None:
        wanted.append(label.alias("correct"))
    return wanted
