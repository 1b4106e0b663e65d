"""Tables with labels -> labelled pools, for fitting and evaluation; the bundled grid; labelled questions of parts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.answers.extract import AUTO
from steelyard.foundation.errors import LabelError, SteelyardNote
from steelyard.tables.reading import read
from steelyard.tables.responses import open_responses
from steelyard.tables.sources.bundled_grid import PREFIX
from steelyard.tables.sources.file_checks import name_in_errors, reading
from steelyard.tables.sources.opening import is_parted_source
from steelyard.voting.pools.label_conflicts import MAJORITY
from steelyard.voting.pools.pool import LabelledPool

LABELS = ("correct", "gold")


def read_labelled(
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
) -> LabelledPool:
    """Read a table of responses like `read`, but refuse one without `correct` or `gold`.

    >>> import steelyard as sy
    >>> table = sy.simulate(questions=20, samples=4)
    >>> cal, test = read_labelled(table).split(0.3, seed=0)
    >>> cal
    LabelledPool(6 questions, 24 responses, 1 unreadable, score score)
    >>> read_labelled(table.drop("correct"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    steelyard.foundation.errors.LabelError: the table has no labels: add a column ...
    """
    pool = read(
        table, score=score, source=source, tokens=tokens, texts=texts, rename=rename, layout=layout, answers=answers,
        labels=labels, need_score=need_score, progress=progress,
    )  # fmt: skip
    if isinstance(pool, LabelledPool):
        return pool
    name = str(table) if isinstance(table, str | Path) else "the table"
    raise LabelError(f"{name} has no labels: add a column 'correct' (true/false) or 'gold' (the answer)")


def labelled_questions(source: Any, *, layout: str | None = None, rename: dict[str, str] | None = None) -> Any:
    """Return the rows of the labelled questions of a folder of parts; any other source is returned unchanged.

    Only these rows are loaded. A question counts as labelled if one of its responses is; incomplete labels are refused
    when the rows are read.
    """
    if not (isinstance(source, str | Path) and is_parted_source(source)):
        return source
    with name_in_errors(source) as name, reading(name):
        frame = open_responses(source, layout, rename)
        schema = frame.collect_schema()
        label = next((name for name in LABELS if name in schema), None)
        if label is None or "question" not in schema:
            return source
        marked = frame.group_by("question").agg(pl.col(label).is_not_null().any())
        counts = marked.select(pl.len(), pl.col(label).sum()).collect(engine="streaming").row(0)
        if counts[0] == counts[1] or not counts[1]:
            return source
        ids = marked.filter(label).select("question").collect(engine="streaming")["question"]
        rows = frame.filter(pl.col("question").is_in(ids.implode())).collect(engine="streaming")
    note = f"{counts[1]:,} of the {counts[0]:,} questions of {name} have labels: only these are read"
    warnings.warn(note, SteelyardNote, stacklevel=2)
    return rows


def load_grid(llm: str, verifier: str) -> LabelledPool:
    """Read the responses of one bundled language model, scored by one of the verifiers.

    `verifier` may name a reducer of the step scores, `prm_soft:min`, or several scores to mix,
    `prm_soft+orm_last`. `grid_names()` lists the names.

    >>> load_grid("smol-misled", "prm_soft")
    LabelledPool(1000 questions, 64000 responses, 0 unreadable, score prm_soft:last)
    """
    return read_labelled(f"{PREFIX}{llm}/{verifier}")
