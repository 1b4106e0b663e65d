"""Tables -> their rows, with the other columns: for `import`, for scoring a table, and for reports."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, SteelyardWarning, TableError
from steelyard.runs.imported import KINDS, OF_QUESTIONS, kind_of
from steelyard.runs.parameters import MAX_SAMPLES
from steelyard.tables.columns import check_columns
from steelyard.tables.question_files import fingerprint
from steelyard.tables.responses import open_responses
from steelyard.tables.row_order import KEYS, order_of
from steelyard.tables.scattered_rows import group_questions
from steelyard.tables.sources.bundled_grid import PREFIX, grid_texts, is_grid
from steelyard.tables.sources.file_checks import name_in_errors, reading

LOG_PROBABILITIES = ("logprobs", "token_logprobs")  # per token; `self_logprob` is exp of their mean
COLUMNS = ("prompt", "response", "domain", "gold")


@dataclass(frozen=True)
class Rows:
    """A table whose rows have a question and a sample number; `kinds` has the kinds of its other columns."""

    table: pl.DataFrame
    kinds: dict[str, str]

    @property
    def n(self) -> int:
        """The number of samples per question, from the largest sample number."""
        return 1 + int(self.table["sample"].max() or 0)  # type: ignore[arg-type]

    @property
    def llm(self) -> str:
        """The LLM of all rows, empty if there are none or several."""
        names = self.table["llm"].unique().to_list() if "llm" in self.kinds else []
        return str(names[0]) if len(names) == 1 and names[0] is not None else ""

    @property
    def has_prompts(self) -> bool:
        """Whether there is a prompt for every question, for verifiers to read."""
        return OF_QUESTIONS in self.kinds

    def questions(self) -> pl.DataFrame:
        """Return one row per question, with its prompt if there is one."""
        first = self.table.group_by("question", maintain_order=True).first()
        return first.select("question", pl.col("prompt") if self.has_prompts else pl.lit("").alias("prompt"))

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield one record per row, as stored in the journal of a run."""
        others = [name for name in self.kinds if name not in (OF_QUESTIONS, "response")]
        for row in self.table.iter_rows(named=True):
            sample = {"kind": "sample", "question": row["question"], "sample": row["sample"]}
            yield sample | {
                "response": row["response"],
                "logprob": _log_probability(row),
                "row": {name: row[name] for name in others},
            }

    def fingerprint(self) -> str:
        """Return the SHA-256 of all rows, independent of the format of their file."""
        return fingerprint(self.table)


def rows_of(source: Any, *, rename: dict[str, str] | None = None, layout: str | None = None) -> Rows:
    """Read a full table of responses; refuse one without responses, or with several prompts for one question."""
    with name_in_errors(source) as name, reading(name):
        frame = open_responses(source, layout, rename)
        schema = frame.collect_schema()
        check_columns(schema)
        if "response" not in schema:
            raise ColumnError(
                "the table has no column 'response' with the full text for the verifier: rename one "
                f"({argument('rename', {'yours': 'response'})})"
            )
        kinds = {name: kind_of(dtype) for name, dtype in schema.items() if name not in KEYS}
        for text in ("response", OF_QUESTIONS):
            if text in kinds and (schema[text].is_nested() or kinds[text] is None):
                raise ColumnError(
                    f"the column {text!r} contains {schema[text]}, not one text per row: convert it to text"
                )
        if unknown := [name for name, kind in kinds.items() if kind is None]:
            message = f"the columns {', '.join(unknown)} are left out of the scored table: they are not text or numbers"
            warnings.warn(message, SteelyardWarning, stacklevel=3)
        stored = {name: kind for name, kind in kinds.items() if kind is not None} | {"response": "text"}
        if OF_QUESTIONS in stored:
            stored[OF_QUESTIONS] = "text"
        table = _numbered(frame, stored)
        _check_numbers(table, stored)
        _check_prompts(table)
        return Rows(table, stored)


def _numbered(frame: pl.LazyFrame, kinds: dict[str, str]) -> pl.DataFrame:
    """Return the rows in order, with a number for every sample."""
    has_samples = "sample" in frame.collect_schema()
    columns = [pl.col("question").cast(pl.String), *([pl.col("sample").cast(pl.Int64)] if has_samples else [])]
    columns += [pl.col(name).cast(KINDS[kind]).fill_nan(None) if kind == "number" else pl.col(name).cast(KINDS[kind])
                for name, kind in kinds.items()]  # fmt: skip
    rows = group_questions(frame.select(columns)).rows
    keys = [pl.col(name) for name in KEYS if name in rows.collect_schema()]
    if not len(order_of(rows, keys).questions):
        raise TableError("the table is empty: it has no rows to score")
    numbered = pl.int_range(pl.len(), dtype=pl.Int64).over("question").alias("sample")
    table = rows.collect()
    return table if has_samples else table.with_columns(numbered).select("question", "sample", *kinds)


def _check_numbers(table: pl.DataFrame, kinds: dict[str, str]) -> None:
    outside = table.filter(~pl.col("sample").is_between(0, MAX_SAMPLES - 1))["sample"]
    if len(outside):
        raise TableError(f"a sample has the number {outside[0]}: number them 0, 1, 2, .. or drop the column 'sample'")
    for name, kind in kinds.items():
        values = table[name].explode() if kind == "list of numbers" else table[name]
        if kind in ("number", "list of numbers") and (values.is_infinite() | values.is_nan()).any():
            raise TableError(f"the column {name!r} contains NaN or infinite values: correct or remove them")


def _check_prompts(table: pl.DataFrame) -> None:
    """Refuse questions with several prompts or none."""
    if OF_QUESTIONS not in table.columns:
        return
    counts = table.group_by("question", maintain_order=True).agg(pl.col("prompt").n_unique().alias("texts"))
    several = counts.filter(pl.col("texts") > 1)
    if several.height:
        raise TableError(f"question {several['question'][0]!r} has several texts in 'prompt': keep one")
    missing = table.filter(pl.col("prompt").fill_null("").str.strip_chars() == "")
    if missing.height:
        raise TableError(f"question {missing['question'][0]!r} has no text in 'prompt': fill the column, or drop it")


def _log_probability(row: dict[str, Any]) -> float | None:
    """Return the mean log-probability of a response's tokens, None if the table does not have it."""
    for name in LOG_PROBABILITIES:
        values = row.get(name)
        tokens = [value for value in values if value is not None] if isinstance(values, list) else []
        if tokens and max(tokens) <= 0:
            return float(sum(tokens) / len(tokens))
    own = row.get("self_logprob")
    return log(own) if isinstance(own, float) and 0 < own <= 1 else None


def import_table(source: Any, *, layout: str | None = None, rename: dict[str, str] | None = None) -> pl.DataFrame:
    """Return the responses in files of any layout as one table: one row per response, with standard column names.

    >>> rows = [{"prompt": "2+2?", "completions": ["It is 4", "It is 5"], "scores": [0.9, 0.2], "answer": "4"}]
    >>> import_table(rows).columns
    ['question', 'gold', 'prompt', 'response', 'scores']
    """
    if isinstance(source, list) and len(source) == 1 and isinstance(source[0], str | Path):
        source = source[0]
    with name_in_errors(source) as name, reading(name):
        table = open_responses(source, layout, rename).collect()
        check_columns(table.schema)
        if not table.height:
            raise TableError(f"{name} is empty: it has no rows to read")
        empty = table["question"].null_count()
        if empty:
            raise ColumnError(f"{empty:,} rows have no question id: fill 'question'")
    return table


def texts_of(source: Any, *, rename: dict[str, str] | None = None, layout: str | None = None) -> pl.DataFrame:
    """Return `question` and those of prompt, response, domain and gold that exist, one row per response of the pool.

    >>> list(texts_of("grid:smol-misled").columns)
    ['question', 'prompt', 'response', 'domain', 'gold']
    """
    with reading(source):
        frame = open_responses(source, layout, rename)
        schema = frame.collect_schema()
        if is_grid(source):
            responses = grid_texts(str(source).removeprefix(PREFIX).partition("/")[0])
            frame = frame.join(responses.lazy(), on=["question", "sample"], how="left", maintain_order="left")
            schema = frame.collect_schema()
        names = [name for name in COLUMNS if name in schema and (name == "gold" or not schema[name].is_nested())]
        order = ["sample"] if "sample" in schema else []
        columns = [_text(name, schema[name]) for name in ("question", *names)]
        return group_questions(frame.select(*columns, *order)).rows.select("question", *names).collect()


def _text(name: str, kind: pl.DataType) -> pl.Expr:
    """Return a column as text; accepted answers are joined with "or"."""
    if isinstance(kind, pl.List | pl.Array):
        return pl.col(name).cast(pl.List(pl.String)).list.join(" or ", ignore_nulls=True)
    return pl.col(name).cast(pl.String)
