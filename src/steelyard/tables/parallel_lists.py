"""Parallel lists in one row per question -> one row per response."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, TableError
from steelyard.tables.cell_values import chat_text, is_chat
from steelyard.tables.names import ANSWERS, LABELS, RESPONSES, columns_named, only
from steelyard.tables.recognition import Converted
from steelyard.tables.wide_roles import Wide, wide_roles

LONG_ANSWER = 40  # characters: a list with a longer answer is one of responses
INSPECTED_ROWS = 50
NAMED = 6  # unused columns that are named


def long_from_lists(frame: pl.LazyFrame, *, sparse: bool = False) -> Converted:
    """Convert a table with one row per question; lists of different lengths are refused.

    With `sparse`, a position where all lists are null is not a response: questions may have different numbers of them.
    """
    schema = frame.collect_schema()
    wide = wide_roles(schema)
    if not wide.texts:
        aliases = "completions, responses, samples, generations, outputs or answers"
        raise ColumnError(
            f"there is no list of responses ({aliases}): rename one ({argument('rename', {'yours': 'response'})})"
        )
    if "question" not in wide.once:
        frame = frame.with_row_index("row number", 1)
        wide = replace(wide, once={"question": "row number", **wide.once})
    lengths = frame.select(
        pl.col(name).list.len() for name in dict.fromkeys((wide.main, *wide.needed, *wide.others))
    ).collect(engine="streaming")
    _check_lengths(lengths, wide)
    along = [name for name in wide.others if lengths[name].fill_null(lengths[wide.main]).equals(lengths[wide.main])]
    table = _exploded(frame, schema, wide, along)
    if sparse:
        table = table.filter(~pl.all_horizontal(pl.col(*wide.texts, *wide.scores).is_null()))
    table, texts = _named_texts(table, frame, wide)
    used = {*wide.needed, *along, *wide.once.values()}
    unused = [name for name in schema if name not in used]
    return Converted(table, _summary(lengths[wide.main], wide, texts, unused))


def _check_lengths(lengths: pl.DataFrame, wide: Wide) -> None:
    """Refuse a row whose lists have different lengths."""
    size = lengths[wide.main].fill_null(0)
    if not (size > 0).any():
        raise TableError(f"no row has any responses: {wide.main!r} is empty everywhere")
    for name in wide.needed:
        wrong = (lengths[name] != size).fill_null(value=False)
        if wrong.any():
            row = int(wrong.arg_true()[0])
            counts = f"{size[row]} entries in {wide.main!r} and {lengths[name][row]} in {name!r}"
            fix = "make them equally long, with null for missing entries, or remove the row"
            raise ColumnError(f"row {row + 1} has {counts}: {fix}")


def _exploded(frame: pl.LazyFrame, schema: pl.Schema, wide: Wide, along: list[str]) -> pl.LazyFrame:
    """Return one row per list entry, with the values per question repeated."""
    size = pl.col(wide.main).list.len()
    once = [
        pl.col(theirs).cast(pl.String if not schema.get(theirs, pl.String).is_nested() else schema[theirs]).alias(ours)
        for ours, theirs in wide.once.items()
    ]
    lists: dict[str, str] = {**wide.texts, **({"correct": wide.labels} if wide.labels else {})}
    lists |= {name: name for name in (*wide.scores, *along) if name not in {*lists, *wide.once}}
    columns = [_filled(pl.col(theirs), schema[theirs], size).alias(ours) for ours, theirs in lists.items()]
    return frame.filter(size > 0).select(*once, *columns).explode(list(lists))


def _filled(column: pl.Expr, kind: Any, size: pl.Expr) -> pl.Expr:
    """Return a list column with missing lists replaced by lists of nulls."""
    return pl.when(column.is_null()).then(pl.lit(None, kind.inner).repeat_by(size)).otherwise(column)


def _named_texts(table: pl.LazyFrame, frame: pl.LazyFrame, wide: Wide) -> tuple[pl.LazyFrame, dict[str, str]]:
    """Extract texts from chats and structs, and rename answers that are full responses."""
    schema = table.collect_schema()
    for ours in wide.texts:
        if not schema[ours].is_nested():
            table = table.with_columns(pl.col(ours).cast(pl.String))
        elif is_chat(schema[ours]):
            table = table.with_columns(chat_text(pl.col(ours)).alias(ours))
        elif isinstance(schema[ours], pl.Struct):
            table = _unnested(table, schema, ours)
    if set(wide.texts) == {"answer"} and _are_responses(frame, wide.main):
        return table.rename({"answer": "response"}), {"response": wide.main}
    return table, wide.texts


def _are_responses(frame: pl.LazyFrame, name: str) -> bool:
    """Whether a list called `answers` contains full responses."""
    texts = frame.select(name).head(INSPECTED_ROWS).explode(name).collect().to_series()
    return texts.dtype == pl.String and bool((texts.str.len_chars() > LONG_ANSWER).any())


def _unnested(table: pl.LazyFrame, schema: pl.Schema, ours: str) -> pl.LazyFrame:
    """Return the fields of a struct as columns, under their standard names."""
    kind: Any = schema[ours]
    fields = [field.name for field in kind.fields]
    theirs = {
        "response": only(columns_named(fields, RESPONSES | {"content"}), "response"),
        "answer": only(columns_named(fields, ANSWERS), "answer"),
        "correct": only(columns_named(fields, LABELS | {"correct"}), "correct"),
    }
    standard = {name: ours for ours, name in theirs.items() if name}
    if not {"response", "answer"} & set(standard.values()):
        raise ColumnError(f"the entries of {ours!r} have no text among {', '.join(fields)}: name the text 'text'")
    existing = set(schema) - {ours}
    added = [name for name in fields if standard.get(name, name) not in existing]
    values = [pl.col(ours).struct.field(name).alias(standard.get(name, name)) for name in added]
    return table.select(pl.exclude(ours), *values)


def _summary(sizes: pl.Series, wide: Wide, texts: dict[str, str], unused: list[str]) -> str:
    """Return the number of questions and responses, how columns were read, and which were not used."""
    counts = sizes.filter(sizes > 0).unique().sort().to_list()
    empty = len(sizes) - int((sizes > 0).sum())
    per_question = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    notes = [
        f"{len(sizes) - empty:,} questions, {per_question} responses per question from {next(iter(texts.values()))!r}"
    ]
    once = [(ours, theirs) for ours, theirs in wide.once.items() if ours in ("question", "gold") and ours != theirs]
    notes += [f"{theirs!r} read as {ours!r}" for ours, theirs in once]
    notes += [f"{wide.labels!r} read as 'correct'"] if wide.labels and wide.labels != "correct" else []
    notes += [f"{empty:,} questions without responses left out"] if empty else []
    more = f" and {len(unused) - NAMED} more" if len(unused) > NAMED else ""
    notes += [f"not used: {', '.join(map(repr, unused[:NAMED]))}{more}"] if unused else []
    return ", ".join(notes)
