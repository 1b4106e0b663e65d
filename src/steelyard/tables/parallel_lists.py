"""Lists that stand beside each other in a row -> one row per response."""

from __future__ import annotations

from typing import Any

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, TableError
from steelyard.tables.chat_texts import chat_text, is_chat
from steelyard.tables.names import ANSWERS, LABELS, RESPONSES, named, only
from steelyard.tables.recognition import Converted
from steelyard.tables.wide_meaning import Wide, wide_meaning

LONG_ANSWER = 40  # letters: a list of answers with a longer one holds responses
LOOKED_AT = 50  # rows
NAMED = 6  # columns that are said not to be used


def long_from_lists(frame: pl.LazyFrame, *, sparse: bool = False) -> Converted:
    """Turn a table with one row per question into our long table; lists of different length are refused.

    With `sparse`, a place where no list says anything is no response: a question had fewer of them.
    """
    schema = frame.collect_schema()
    wide = wide_meaning(schema)
    if not wide.texts:
        known = "completions, responses, samples, generations, outputs or answers"
        rename = argument("rename", {"yours": "response"})
        raise ColumnError(f"there is no list of responses ({known}): rename one ({rename})")
    if "question" not in wide.once:
        frame, wide = frame.with_row_index("row number", 1), _numbered(wide)
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
    return Converted(table, _said(lengths[wide.main], wide, texts, unused))


def _numbered(wide: Wide) -> Wide:
    return Wide(wide.texts, wide.labels, wide.scores, wide.others, {"question": "row number", **wide.once})


def _check_lengths(lengths: pl.DataFrame, wide: Wide) -> None:
    """Refuse a row whose lists do not stand beside each other."""
    size = lengths[wide.main].fill_null(0)
    if not (size > 0).any():
        raise TableError(f"no row has any responses: {wide.main!r} is empty everywhere")
    for name in wide.needed:
        wrong = (lengths[name] != size).fill_null(value=False)
        if wrong.any():
            row = int(wrong.arg_true()[0])
            counts = f"{size[row]} entries in {wide.main!r} and {lengths[name][row]} in {name!r}"
            fix = "make them equally long, with null where something is missing, or leave the row out"
            raise ColumnError(f"row {row + 1} has {counts}: {fix}")


def _exploded(frame: pl.LazyFrame, schema: pl.Schema, wide: Wide, along: list[str]) -> pl.LazyFrame:
    """One row per entry of the lists, with what the row says once beside each."""
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
    """A list, of nothing where it is missing."""
    return pl.when(column.is_null()).then(pl.lit(None, kind.inner).repeat_by(size)).otherwise(column)


def _named_texts(table: pl.LazyFrame, frame: pl.LazyFrame, wide: Wide) -> tuple[pl.LazyFrame, dict[str, str]]:
    """Make responses texts: those of chats, those in structs, and answers that are whole responses."""
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
    """Whether a list that is called `answers` holds whole responses."""
    texts = frame.select(name).head(LOOKED_AT).explode(name).collect().to_series()
    return texts.dtype == pl.String and bool((texts.str.len_chars() > LONG_ANSWER).any())


def _unnested(table: pl.LazyFrame, schema: pl.Schema, ours: str) -> pl.LazyFrame:
    """The fields of a struct as columns, by their known names."""
    kind: Any = schema[ours]
    fields = [field.name for field in kind.fields]
    theirs = {
        "response": only(named(fields, RESPONSES | {"content"}), "response"),
        "answer": only(named(fields, ANSWERS), "answer"),
        "correct": only(named(fields, LABELS | {"correct"}), "correct"),
    }
    meant = {name: ours for ours, name in theirs.items() if name}
    if not {"response", "answer"} & set(meant.values()):
        raise ColumnError(f"the entries of {ours!r} have no text among {', '.join(fields)}: name the text 'text'")
    taken = set(schema) - {ours}
    fresh = [name for name in fields if meant.get(name, name) not in taken]
    values = [pl.col(ours).struct.field(name).alias(meant.get(name, name)) for name in fresh]
    return table.select(pl.exclude(ours), *values)


def _said(sizes: pl.Series, wide: Wide, texts: dict[str, str], unused: list[str]) -> str:
    """How much was found, which column was read as what, and which were not."""
    counts = sizes.filter(sizes > 0).unique().sort().to_list()
    none = len(sizes) - int((sizes > 0).sum())
    each = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    said = [f"{len(sizes) - none:,} questions, {each} responses per question from {next(iter(texts.values()))!r}"]
    once = [(ours, theirs) for ours, theirs in wide.once.items() if ours in ("question", "gold") and ours != theirs]
    said += [f"{theirs!r} read as {ours!r}" for ours, theirs in once]
    said += [f"{wide.labels!r} read as 'correct'"] if wide.labels and wide.labels != "correct" else []
    said += [f"{none:,} questions without responses left out"] if none else []
    more = f" and {len(unused) - NAMED} more" if len(unused) > NAMED else ""
    said += [f"not used: {', '.join(map(repr, unused[:NAMED]))}{more}"] if unused else []
    return ", ".join(said)
