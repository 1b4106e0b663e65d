"""Several files as one table: all have the relevant columns, and questions of different files are not confused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, TableError
from steelyard.tables.names import ANSWERS, GOLDS, LABELS, QUESTION_IDS, RESPONSES, ROW_IDS, SCORE_LIKE, key, plurals
from steelyard.tables.recognition import Opened, Record

FILE = "number of the file"  # temporary column, dropped once questions in several files were checked
RELEVANT = (
    plurals(RESPONSES | ANSWERS | LABELS | {"sample", "candidate", "rollout", "correct"})
    | GOLDS | QUESTION_IDS | ROW_IDS | {"question", "gold"}
)  # fmt: skip
EXACT = 2**53  # integers up to here are exact as floats
ALONE = "read the files one at a time"


class Joined(Opened):
    """Several files joined, with the file number of each row."""

    def __init__(self, opened: Opened) -> None:
        self.opened, self.paths = opened, opened.paths

    @cached_property
    def first(self) -> Record:
        return self.opened.first

    def records(self) -> Iterator[Record]:
        return self.opened.records()

    def parts(self) -> Iterator[Opened]:
        return self.opened.parts()

    @cached_property
    def _frame(self) -> pl.LazyFrame:
        frames = [part.frame() for part in self.opened.parts()]
        check_alike([frame.collect_schema() for frame in frames], self.paths)
        check_exact(frames, self.paths)
        marked = [frame.with_columns(pl.lit(i, pl.Int32).alias(FILE)) for i, frame in enumerate(frames)]
        return pl.concat(marked, how="diagonal_relaxed")


def joined(opened: Opened) -> Opened:
    """Join the files of a source if there are several."""
    return Joined(opened) if len(opened.paths) > 1 else opened


def check_alike(schemas: Sequence[pl.Schema], paths: Sequence[Path]) -> None:
    """Refuse a file that lacks a relevant column of another file: it would be read as empty."""
    for i, schema in enumerate(schemas):
        for other, theirs in zip(paths, schemas, strict=False):
            missing = [name for name in theirs if name not in schema and _is_relevant(name)]
            if missing:
                raise ColumnError(
                    f"{paths[i]} has no column {missing[0]!r}, which {other} has: {ALONE}, or give them equal columns "
                    "('steelyard import FILE --rename THEIRS=OURS -o table.parquet')"
                )
            different = [
                name for name in theirs if name in schema and theirs[name].is_nested() != schema[name].is_nested()
            ]
            if different and _is_relevant(different[0]) and pl.Null not in (schema[different[0]], theirs[different[0]]):
                raise ColumnError(
                    f"{different[0]!r} contains {schema[different[0]]} in {paths[i]} and {theirs[different[0]]} in "
                    f"{other}: {ALONE}"
                )


def check_exact(frames: Sequence[pl.LazyFrame], paths: Sequence[Path]) -> None:
    """Refuse integers that would be rounded because another file has decimals: different ids would become equal."""
    schemas = [frame.collect_schema() for frame in frames]
    decimal = {name: i for i, schema in enumerate(schemas) for name, kind in schema.items() if kind.is_float()}
    for frame, schema, path in zip(frames, schemas, paths, strict=False):
        integers = [name for name, kind in schema.items() if kind.is_integer() and name in decimal]
        if not integers:
            continue
        rounded = [(pl.col(name).min() < -EXACT) | (pl.col(name).max() > EXACT) for name in integers]
        for name, is_rounded in frame.select(rounded).collect(engine="streaming").row(0, named=True).items():
            if is_rounded:
                raise ColumnError(
                    f"{name!r} contains integers beyond 2^53 in {path} and decimals in {paths[decimal[name]]}, so "
                    f"together they would be rounded: {ALONE}, or write {name!r} as text in both"
                )


def _is_relevant(name: str) -> bool:
    return key(name) in RELEVANT or bool(SCORE_LIKE.search(key(name)))


def merge_files(frame: pl.LazyFrame, paths: Sequence[Path]) -> tuple[pl.LazyFrame, str]:
    """Return a table without the file number, and a note on questions that are in several files.

    They are refused if the files disagree on them or use the same sample numbers.
    """
    schema = frame.collect_schema()
    if FILE not in schema:
        return frame, ""
    rest = frame.drop(FILE)
    if "question" not in schema:
        return rest, ""  # reported when the columns are checked
    fields = [name for name in ("prompt", "gold") if schema.get(name) in (pl.String, pl.List(pl.String))]
    texts = (pl.col(name) if schema[name] == pl.String else pl.col(name).list.join("\x1f") for name in fields)
    per_file = frame.group_by("question", FILE).agg(text.drop_nulls().first() for text in texts)
    shared = (
        per_file.group_by("question")
        .agg(pl.len().alias("files"), pl.col(FILE).min(), pl.col(fields).drop_nulls().n_unique())
        .filter(pl.col("files") > 1)
        .sort(FILE, "question")
        .collect(engine="streaming")
    )
    if not shared.height:
        return rest, ""
    for name in fields:
        different = shared.filter(pl.col(name) > 1)["question"]
        if len(different):
            raise TableError(
                f"question {str(different[0])!r} is in several files with a different {name!r} in each "
                f"({_first_paths(paths)}): each file numbers its own questions, so {ALONE}"
            )
    if "sample" in schema:
        _check_samples(frame, paths)
    subject = "questions are" if shared.height > 1 else "question is"
    return rest, f"{shared.height:,} {subject} in more than one of the files: their responses vote together"


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
            f"question {str(question)!r} has sample {sample} in more than one of the files ({_first_paths(paths)}): "
            f"{ALONE}, or, if they contain different samples, "
            f"read them together with {argument('rename', {'sample': 'number'})}"
        )


def _first_paths(paths: Sequence[Path]) -> str:
    more = f" and {len(paths) - 2} more" if len(paths) > 2 else ""
    return f"{', '.join(map(str, paths[:2]))}{more}"
