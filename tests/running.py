"""The command line, run in this process."""

from __future__ import annotations

import io
import re
import sys
import warnings
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


def make_plan(*words: object) -> Done:
    """Run `steelyard fit WORDS` without the assessment, which takes 40 fits more: for tests that only use the plan."""
    with patch("steelyard.cli.fit._assessed", lambda *_: {}):
        return steelyard("fit", *words)
