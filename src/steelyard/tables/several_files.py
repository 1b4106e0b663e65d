"""Several files as one table: each has the columns that matter, and no question is mixed up with another's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, TableError
from steelyard.tables.names import (
    ANSWERS,
    GOLDS,
    LABELS,
    QUESTION_IDS,
    RESPONSES,
    ROW_IDS,
    SCORE_LIKE,
    key,
    plurals,
)
from steelyard.tables.recognition import Opened, Record

FILE = "number of the file"  # a column that goes again once it is known which questions stand in which file
MATTERING = (
    plurals(RESPONSES | ANSWERS | LABELS | {"sample", "candidate", "rollout", "correct"})
    | GOLDS | QUESTION_IDS | ROW_IDS | {"question", "gold"}
)  # fmt: skip
EXACT = 2**53  # whole numbers up to here are the same as decimals
ALONE = "give the files one at a time"


class Joined(Opened):
    """Several files whose rows know which file they are from."""

    def __init__(self, opened: Opened) -> None:
        self.opened, self.paths = opened, opened.paths

    @cached_property
    def first(self) -> Record:
        return self.opened.first

    def records(self) -> Iterator[Record]:
        return self.opened.records()

    def parts(self) -> Iterator[Opened]:
        return self.opened.parts()

    def frame(self) -> pl.LazyFrame:
        return self._frame

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        frames = [part.frame() for part in self.opened.parts()]
        check_alike([frame.collect_schema() for frame in frames], self.paths)
        check_exact(frames, self.paths)
        marked = [frame.with_columns(pl.lit(i, pl.Int32).alias(FILE)) for i, frame in enumerate(frames)]
        return pl.concat(marked, how="diagonal_relaxed")


def joined(opened: Opened) -> Opened:
    """What is read as one table, where it is more than one file."""
    return Joined(opened) if len(opened.paths) > 1 else opened


def check_alike(schemas: Sequence[pl.Schema], paths: Sequence[Path]) -> None:
    """Refuse a file that lacks a column that matters and that another has: its rows would be read as empty there."""
    for i, schema in enumerate(schemas):
        for other, theirs in zip(paths, schemas, strict=False):
            lost = [name for name in theirs if name not in schema and _matters(name)]
            if lost:
                raise ColumnError(
                    f"{paths[i]} has no column {lost[0]!r}, which {other} has: {ALONE}, or make their columns alike "
                    "('steelyard import FILE --rename THEIRS=OURS -o table.parquet')"
                )
            unlike = [
                name for name in theirs if name in schema and theirs[name].is_nested() != schema[name].is_nested()
            ]
            if unlike and _matters(unlike[0]) and pl.Null not in (schema[unlike[0]], theirs[unlike[0]]):
                raise ColumnError(
                    f"{unlike[0]!r} holds {schema[unlike[0]]} in {paths[i]} and {theirs[unlike[0]]} in {other}: {ALONE}"
                )


def check_exact(frames: Sequence[pl.LazyFrame], paths: Sequence[Path]) -> None:
    """Refuse whole numbers that would be rounded because another file has decimals: different ids would become one."""
    schemas = [frame.collect_schema() for frame in frames]
    decimal = {name: i for i, schema in enumerate(schemas) for name, kind in schema.items() if kind.is_float()}
    for frame, schema, path in zip(frames, schemas, paths, strict=False):
        whole = [name for name, kind in schema.items() if kind.is_integer() and name in decimal]
        if not whole:
            continue
        rounded = [(pl.col(name).min() < -EXACT) | (pl.col(name).max() > EXACT) for name in whole]
        for name, is_rounded in frame.select(rounded).collect(engine="streaming").row(0, named=True).items():
            if is_rounded:
                raise ColumnError(
                    f"{name!r} holds whole numbers beyond 2^53 in {path} and decimals in {paths[decimal[name]]}, which "
                    f"together would be rounded: {ALONE}, or write {name!r} as text in both"
                )


def _matters(name: str) -> bool:
    return key(name) in MATTERING or bool(SCORE_LIKE.search(key(name)))


def parted(frame: pl.LazyFrame, paths: Sequence[Path]) -> tuple[pl.LazyFrame, str]:
    """Return a table without the number of its file, and what to say about questions that stand in several files.

    They are refused where the files say different things about them, or number their samples alike.
    """
    schema = frame.collect_schema()
    if FILE not in schema:
        return frame, ""
    rest = frame.drop(FILE)
    if "question" not in schema:
        return rest, ""  # whoever checks the columns says so
    told = [name for name in ("prompt", "gold") if schema.get(name) in (pl.String, pl.List(pl.String))]
    texts = (pl.col(name) if schema[name] == pl.String else pl.col(name).list.join("\x1f") for name in told)
    each = frame.group_by("question", FILE).agg(text.drop_nulls().first() for text in texts)
    shared = (
        each.group_by("question")
        .agg(pl.len().alias("files"), pl.col(FILE).min(), pl.col(told).drop_nulls().n_unique())
        .filter(pl.col("files") > 1)
        .sort(FILE, "question")
        .collect(engine="streaming")
    )
    if not shared.height:
        return rest, ""
    for name in told:
        unlike = shared.filter(pl.col(name) > 1)["question"]
        if len(unlike):
            raise TableError(
                f"question {str(unlike[0])!r} stands in several files with another {name!r} in each "
                f"({_spoken(paths)}): they number questions of their own, so {ALONE}"
            )
    if "sample" in schema:
        _check_samples(frame, paths)
    verb = "questions stand" if shared.height > 1 else "question stands"
    return rest, f"{shared.height:,} {verb} in more than one of the files: their responses vote together"


def _check_samples(frame: pl.LazyFrame, paths: Sequence[Path]) -> None:
    """Refuse samples that have the same number in two files: two runs, or one file twice."""
    twice = (
        frame.group_by("question", "sample")
        .agg(pl.col(FILE).n_unique())
        .filter(pl.col(FILE) > 1)
        .sort("question", "sample")
        .collect(engine="streaming")
    )
    if twice.height:
        question, sample, _ = twice.row(0)
        raise TableError(
            f"question {str(question)!r} has sample {sample} in more than one of the files ({_spoken(paths)}): "
            f"{ALONE}, or, if they hold different samples, "
            f"read them together with {argument('rename', {'sample': 'number'})}"
        )


def _spoken(paths: Sequence[Path]) -> str:
    more = f" and {len(paths) - 2} more" if len(paths) > 2 else ""
    return f"{', '.join(map(str, paths[:2]))}{more}"
