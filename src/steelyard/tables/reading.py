"""Tables -> pools, a batch of complete questions at a time: memory grows with the arrays, not with the text."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from steelyard.answers.extract import AUTO
from steelyard.answers.golds import CHOICE
from steelyard.answers.kind import Kind
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.errors import ColumnError, LabelError, TableError
from steelyard.tables.columns import check_columns, how_read_expressions, token_column, token_expression
from steelyard.tables.compared_texts import compared_columns, in_memory
from steelyard.tables.computed_choice import empty_token_counts
from steelyard.tables.duplicates import RepeatedRows, with_codes
from steelyard.tables.grades import attempted_columns
from steelyard.tables.labels import LABELLED_ROWS, check_golds, label_expression
from steelyard.tables.on_demand_scores import scored_expressions
from steelyard.tables.other_scales import noting_scales
from steelyard.tables.pools_from_frames import join
from steelyard.tables.responses import open_responses
from steelyard.tables.row_order import in_order, pools
from steelyard.tables.score_columns import Scores, choose_scores, range_of_all, score_columns, score_text
from steelyard.tables.single_pass import COLUMNS, pools_in_one_pass
from steelyard.tables.source_column import llm_column, source_code, source_names, source_of_run
from steelyard.tables.sources.bundled_grid import grid_score
from steelyard.tables.sources.file_checks import name_in_errors, reading
from steelyard.tables.sources.parquet_slices import ParquetFile, parquet_file
from steelyard.tables.table_answers import TEXT_ROWS, evidence_of, settle_placeholders, text_expression
from steelyard.tables.vote_warnings import single_responses
from steelyard.voting.pools.label_conflicts import MAJORITY, LabelConflicts
from steelyard.voting.pools.origin import Origin
from steelyard.voting.pools.pool import Pool
from steelyard.voting.pools.scores import ScoreRangeError


def read(
    table: Any,
    *,
    score: str | Sequence[str] | None = None,
    source: str | None = None,
    tokens: bool | str = False,
    texts: bool = False,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    answers: str = AUTO,
    labels: str = MAJORITY,
    need_score: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Pool:
    """Read a table of responses into a pool: a LabelledPool when it has `correct` or `gold`.

    `table` is a path (.parquet, .jsonl, .csv, .arrow, or a run folder), `grid:LLM/VERIFIER` for bundled responses, or
    a polars, pandas, pyarrow, DuckDB or datasets table. `score` names the verifier's column, `prm:min` reduces a list
    of step scores, `sigmoid(prm)` turns logits into scores, `prm+self` reads two for a method to mix, `prm:*` every
    reducer of the steps, `prm_*` every score column whose name matches, a list several of these; scores that are mixed
    may be on any scale. `length` is computed from the length of each response (docs/scores.md), `none` reads no
    score; with `need_score=False` a table without a clear score is read without one. `source` names the column with the
    source of each response, such as `llm`, for the methods `committee` and `consensus`; a run with several upstreams
    has it by default. `tokens=True` reads the tokens of every response, for cascades: the column `tokens`, else the
    characters of `response` / 4; a name reads that column. `texts=True` marks responses of a question with the same
    text, which a verifier need not score twice. `rename` maps your column names to Steelyard's.
    `answers` is the kind of answer, which decides how answers are read from a column `response` and which of them
    are the same: one of those in docs/answers.md (math, choice ...), re:PATTERN, or auto, which decides by the golds,
    else by the answers or responses, and reports any kind but math in one line. A gold answer may be a worked
    solution, or a list of accepted answers.
    An answer with contradictory labels in `correct` gets the majority label, with a warning; `labels="strict"` refuses
    it.
    `progress` is called with the fraction of rows read so far. `read_labelled` does the same for a table that must have
    labels.

    >>> import steelyard as sy
    >>> sy.read(sy.simulate(questions=20, samples=4), score="score")
    LabelledPool(20 questions, 80 responses, 2 unreadable, score score)
    """
    pools = pools_of(
        table, score=score, source=source, tokens=tokens, texts=texts, rename=rename, layout=layout, answers=answers,
        labels=labels, need_score=need_score, progress=progress,
    )  # fmt: skip
    return join(in_memory(pools))


def pools_of(
    table: Any,
    *,
    score: str | Sequence[str] | None = None,
    source: str | None = None,
    tokens: bool | str = False,
    texts: bool = False,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    answers: str | AnswerReader = AUTO,
    need_score: bool = True,
    labels: str | None = MAJORITY,
    on_demand: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Generator[Pool]:
    """Read a table of any length as pools of complete questions, each question in one pool.

    Memory is bounded if the rows of each question are contiguous; a table in another order is sorted first. This is
    decided before the first pool is made. `labels=None` reads no labels. `on_demand` means that the table is part of
    one that was scored on demand.
    """
    reader = AnswerReader(answers) if isinstance(answers, str) else answers
    with closing(reader):
        prepared = prepare(
            table, reader, score=score, source=source, tokens=tokens, texts=texts, rename=rename, layout=layout,
            need_score=need_score, labels=labels, on_demand=on_demand,
        )  # fmt: skip
        yield from prepared.pools(reader, progress)


@dataclass(frozen=True)
class PreparedTable:
    """A table that was opened and checked, and what is read from it."""

    table: Any
    frame: pl.LazyFrame
    schema: pl.Schema
    columns: list[pl.Expr]
    scores: Scores
    origin: Origin
    sources: tuple[str, ...]
    labels: str
    layout: str | None
    file: ParquetFile | None

    def pools(
        self, reader: AnswerReader, progress: Callable[[float], None] | None = None, *, once: bool = False
    ) -> Generator[Pool]:
        """Read the pools, and warn of what was found in them; `once`: in one pass (single_pass.py)."""
        repeated, conflicts = RepeatedRows(), LabelConflicts(self.labels)
        with closing(reader), name_in_errors(self.table) as name, reading(name):
            made = self._once(reader, progress) if once else self._ordered(reader, progress, conflicts)
            try:
                for pool in noting_scales(made):
                    repeated.inspect(pool)
                    yield pool
            except ScoreRangeError as error:
                raise range_of_all(self.frame, self.scores) or error from None
        reader.warn(_inspection_command(reader, self.table, dict(self.origin.rename), self.layout))
        repeated.warn()
        conflicts.warn()

    def is_plain(self) -> bool:
        """Whether it can be read in one pass: it has nothing but questions, samples, answers and one score."""
        return {column.meta.output_name() for column in self.columns} <= COLUMNS and not self.origin.relative

    def _ordered(
        self, reader: AnswerReader, progress: Callable[[float], None] | None, conflicts: LabelConflicts
    ) -> Iterator[Pool]:
        """Read the pools of a table in any order."""
        rows = in_order(self.frame, self.columns)
        if not len(rows.order.questions):
            raise TableError(f"{self.origin.file} is empty: it has no rows to read")
        single = float((np.diff(rows.order.starts) == 1).mean())
        yield from pools(rows, self._origin(single), reader, progress, conflicts, self.sources)

    def _once(self, reader: AnswerReader, progress: Callable[[float], None] | None) -> Iterator[Pool]:
        """Read the pools of a table whose rows are in order."""
        return pools_in_one_pass(self.frame, self.columns, self._origin, reader, progress, self.file)

    def _origin(self, single: float | None) -> Origin:
        """Return the origin of the pools; `single` is the share of questions with one response, where it is known."""
        if single is None:
            return self.origin
        return replace(self.origin, single=single_responses(self.schema, single, str(self.origin.file)))


def prepare(
    table: Any,
    reader: AnswerReader,
    *,
    score: str | Sequence[str] | None = None,
    source: str | None = None,
    tokens: bool | str = False,
    texts: bool = False,
    rename: dict[str, str] | None = None,
    layout: str | None = None,
    need_score: bool = True,
    labels: str | None = MAJORITY,
    on_demand: bool = False,
) -> PreparedTable:
    """Open and check a table, and choose what is read from it; the options are those of `pools_of`."""
    source = source or source_of_run(table)
    file = parquet_file(table)
    with name_in_errors(table) as name, reading(name):
        frame = open_responses(table, layout, rename)
        schema = frame.collect_schema()
        check_columns(schema)
        requested = grid_score(table) if score is None else score
        others = _without(schema, source, tokens, reader.kind.column, *empty_token_counts(frame, score_text(requested)))
        if need_score and requested is None and not score_columns(others):
            need_score = not _is_free_text(table, frame, reader)
        chosen = choose_scores(others, requested, need_score)
        parts = chosen.names if len(chosen.names) > 1 else ()
        llms = _llms(frame, schema)
        only_llm, several = (llms[0], ()) if len(llms) == 1 else (None, llms)
        reader.look(lambda: evidence_of(table, frame))
        settle_placeholders(frame, reader)
        origin = Origin(
            chosen.name, only_llm, name, parts, several, source, llm_column(schema), score_columns(others),
            answers=reader.kind.name, rename=tuple((rename or {}).items()), tokens=token_column(schema, tokens),
            relative=chosen.relative, undirected=chosen.undirected,
        )  # fmt: skip
        sources = source_names(frame, schema, source)
        exact = reader.kind.similarity is None
        if exact and labels is not None and (both := _labels_and_golds(frame, schema)) is not None:
            check_golds(both, reader)
        columns = [*_columns(frame, chosen, labels is not None, reader.kind)]
        columns += attempted_columns(frame, schema) if labels is not None else []
        columns += scored_expressions(frame, chosen, on_demand) + how_read_expressions(schema)
        if exact and labels is not None and _labels_by_gold(schema):
            reader.look_at_golds(*_golds_and_texts(frame, reader))
        if source is not None and sources:
            columns.append(source_code(source, sources))
        token_count = token_expression(schema, tokens if isinstance(tokens, str) else None) if tokens else None
        frame, text_code = with_codes(frame, table) if texts else (frame, None)
        columns += [column for column in (token_count, text_code) if column is not None]
        return PreparedTable(table, frame, schema, columns, chosen, origin, sources, labels or MAJORITY, layout, file)


def _without(schema: pl.Schema, *columns: object) -> pl.Schema:
    return pl.Schema({name: kind for name, kind in schema.items() if name not in columns})


def _is_free_text(table: Any, frame: pl.LazyFrame, reader: AnswerReader) -> bool:
    """Whether answers are compared by similarity: such files are often graded but not scored."""
    reader.look(lambda: evidence_of(table, frame))
    return reader.kind.similarity is not None


def _columns(frame: pl.LazyFrame, scores: Scores, labels: bool, kind: Kind) -> list[pl.Expr]:
    """Return the columns of a pool: question, answer (or response) and, if there are any, sample, scores and labels."""
    schema = frame.collect_schema()
    prefers_response = kind.similarity is not None and "response" in schema
    text = ["question", "answer" if "answer" in schema and not prefers_response else "response"]
    if labels and _labels_by_gold(schema):
        text.append("gold")
        if kind.similarity is not None:
            raise LabelError(
                "free text cannot be compared with 'gold': label every response in a column 'correct' or 'grade' "
                "(C, I, N), as a grader does, or name another kind of answers"
            )
    for name in text:
        if name == "gold" and isinstance(schema[name], pl.List | pl.Array):
            continue
        if schema[name].is_nested() or schema[name] == pl.Object:
            raise ColumnError(
                f"the column {name!r} contains {str(schema[name])[:60]}, not one text or number per row: write each "
                "value as JSON text (json.dumps)"
            )
    columns = [text_expression(name, schema[name]) for name in text]
    if "sample" in schema:
        if not (schema["sample"].is_integer() or schema["sample"] == pl.Null):
            raise ColumnError(f"the column 'sample' contains {schema['sample']}, not integers 0, 1, 2, ..")
        columns.append(pl.col("sample").cast(pl.Int64))
    columns += scores.expressions()
    label = label_expression(schema) if labels else None
    if label is not None:
        columns.append(label.alias("correct"))
    return columns if kind.similarity is None else [*columns, *compared_columns(frame, kind)]


def _labels_and_golds(frame: pl.LazyFrame, schema: pl.Schema) -> pl.DataFrame | None:
    """Return the first rows of a table with both labels and golds; None if it lacks either."""
    label, names = label_expression(schema), ("question", "gold", "answer" if "answer" in schema else "response")
    if label is None or "gold" not in schema:
        return None
    if any(schema[name].is_nested() and schema[name] != pl.List(pl.String) for name in names):
        return None
    columns = [text_expression(name, schema[name]) for name in names]
    return frame.select(*columns, label.alias("correct")).head(LABELLED_ROWS).collect()


def _labels_by_gold(schema: pl.Schema) -> bool:
    return "correct" not in schema and "gold" in schema


def _golds_and_texts(frame: pl.LazyFrame, reader: AnswerReader) -> tuple[pl.Series, pl.Series]:
    """Return all golds of a table and its first responses; both are empty if the kind of answers needs neither."""
    empty = pl.Series([], dtype=pl.String)
    schema = frame.collect_schema()
    if reader.kind.name != CHOICE or isinstance(schema["gold"], pl.List | pl.Array):
        return empty, empty
    golds = frame.select(text_expression("gold", schema["gold"]).unique()).collect(engine="streaming")["gold"]
    name = "answer" if "answer" in schema else "response"
    return golds, frame.select(text_expression(name, schema[name])).head(TEXT_ROWS).collect()[name]


def _inspection_command(reader: AnswerReader, source: Any, rename: dict[str, str] | None, layout: str | None) -> str:
    """Return the command that shows the unreadable responses."""
    sources = source if isinstance(source, list | tuple) else [source]
    files = [str(file) for file in sources if isinstance(file, str | Path) and Path(file).exists()]
    arguments = ["steelyard", "answers", *(files or ["FILE"]), "--only-unreadable"]
    arguments += ["--answers", reader.kind.name] if reader.choice is None else []
    arguments += [text for old, new in (rename or {}).items() for text in ("--rename", f"{old}={new}")]
    return shlex.join([*arguments, *(["--layout", layout] if layout else [])])


def _llms(frame: pl.LazyFrame, schema: pl.Schema) -> tuple[str, ...]:
    """Return the names of the LLMs; if some rows have none, only if the others have several."""
    column = llm_column(schema)
    if column is None:
        return ()
    names = frame.select(pl.col(column).cast(pl.String).unique()).collect(engine="streaming")[column]
    llms = tuple(sorted(names.drop_nulls()))
    return llms if len(llms) > 1 or not names.null_count() else ()
