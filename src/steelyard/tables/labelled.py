"""Tables with labels -> labelled pools, for fitting and evaluation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from steelyard.answers.extract import AUTO
from steelyard.foundation.errors import LabelError
from steelyard.tables.reading import read
from steelyard.voting.pools.label_conflicts import MAJORITY
from steelyard.voting.pools.pool import LabelledPool


def read_labelled(
    table: Any,
    *,
    score: str | None = None,
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
    options: dict[str, Any] = {"source": source, "rename": rename, "layout": layout, "answers": answers}
    options |= {"labels": labels, "need_score": need_score, "progress": progress}
    pool = read(table, score=score, tokens=tokens, texts=texts, **options)
    if isinstance(pool, LabelledPool):
        return pool
    name = str(table) if isinstance(table, str | Path) else "the table"
    raise LabelError(f"{name} has no labels: add a column 'correct' (true/false) or 'gold' (the answer)")
