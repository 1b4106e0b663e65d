"""How messages name an argument: score='prm' in a Python program, --score prm on the command line."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

_as_options = False  # of this process; threads see it too, as they would not see a context variable


def argument(name: str, value: object = None) -> str:
    """Name an argument, and the value to give it, in the form that the caller can type.

    >>> argument("score", "1-loss"), argument("rename", {"id": "question"}), argument("overwrite", True)
    ("score='1-loss'", "rename={'id': 'question'}", 'overwrite=True')
    >>> with option_names():
    ...     argument("score", "1-loss"), argument("rename", {"id": "question"}), argument("overwrite", True)
    ('--score 1-loss', '--rename id=question', '--overwrite')
    >>> argument("score")
    'score='
    """
    if not _as_options:
        return f"{name}={'' if value is None else repr(value)}"
    option = f"--{name.replace('_', '-')}"
    if value is None or value is True:
        return option
    return f"{option} {shlex.quote(_pairs(value) if isinstance(value, dict) else str(value))}"


def _pairs(value: dict[str, str]) -> str:
    """Write KEY=NEW pairs with commas, as one line of CSV: a pair with a comma is quoted.

    >>> _pairs({"id": "question", "Answer, final": "answer"})
    'id=question,"Answer, final=answer"'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(f"{key}={new}" for key, new in value.items())
    return line.getvalue()


def choose_another(noun: str = "path") -> str:
    """Ask for another output; functions call that argument `path`, `output` or `run`, every verb calls it -o."""
    return f"choose another {noun}{' with -o' if _as_options else ''}"


def spelling(*, python: str, command_line: str) -> str:
    """Return the form that the caller can type, where the two differ in more than the spelling of one argument.

    >>> spelling(python="split(0.5, seed=0)", command_line="--calibrate 0.5")
    'split(0.5, seed=0)'
    """
    return command_line if _as_options else python


@contextmanager
def option_names(as_options: bool = True) -> Iterator[None]:
    """Name arguments as options of the command line within this block."""
    global _as_options  # noqa: PLW0603
    before, _as_options = _as_options, as_options
    try:
        yield
    finally:
        _as_options = before


def with_names_of_this_process(task: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function for a worker process to call, whose messages then name arguments as those of this one do."""
    return partial(_call, task, _as_options)


def _call(task: Callable[..., Any], as_options: bool, *arguments: Any) -> Any:
    with option_names(as_options):
        return task(*arguments)
