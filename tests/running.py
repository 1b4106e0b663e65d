"""The command line, run in this process."""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

from steelyard.cli import main

PROGRESS = re.compile(r": (\d+ %(, about [^,]* left)?|[\d,]+/[\d,]+, .*)$")


@dataclass
class Done:
    code: int
    out: str
    err: str


def unmeasured(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """An environment in which a process is not measured for coverage: that writes and renames files too."""
    return {name: value for name, value in environment.items() if not name.startswith("COV")}


def without_progress(err: str) -> str:
    """What a process said beside the lines of progress that a busy machine makes it write."""
    return "".join(line for line in err.splitlines(keepends=True) if not PROGRESS.search(line.rstrip()))


def steelyard(*words: object) -> Done:
    """Run `steelyard WORDS` and return its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", ["steelyard", *map(str, words)]),
        patch.object(warnings, "showwarning"),
        warnings.catch_warnings(),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        warnings.simplefilter("default")
        try:
            main()
        except SystemExit as end:
            return Done(int(end.code or 0), out.getvalue(), err.getvalue())
    raise AssertionError("main always exits")
