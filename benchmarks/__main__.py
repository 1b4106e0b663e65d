"""`make bench`: run every benchmark, print the table, and write it to docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import sys
from importlib import import_module
from pathlib import Path

import numba
import numpy as np
import polars as pl

import steelyard as sy
from benchmarks.measuring import Row
from benchmarks.page_sections import PAGE, with_head

PARTS = ("startup", "tally", "calibration", "committee", "kde", "curves", "files", "runs", "sampling")
TITLE = "# Benchmarks"
HEAD = """This page is made by `make bench`; each later section names its own command. Most figures are ratios of two
things measured in turns in one run, because machines differ and are noisy: a ratio holds on other machines, the seconds
in brackets do not."""


def page(rows: list[Row]) -> str:
    where = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"numpy {np.__version__}, numba {numba.__version__}, polars {pl.__version__}, Steelyard {sy.__version__}"
    )
    table = ["| what | measured | goal | met |", "|---|---|---|---|"]
    table += [f"| {row.what} | {row.figure} | {row.goal} | {'yes' if row.met else '**no**'} |" for row in rows]
    return "\n\n".join((TITLE, in_short(rows), HEAD, f"Measured on: {where}.", "\n".join(table))) + "\n"


def in_short(rows: list[Row]) -> str:
    """The summary of the page."""
    goals = [row for row in rows if row.goal != "no goal"]
    missed = [f"{row.what} ({row.figure}, goal {row.goal})" for row in goals if not row.met]
    met = f"{len(goals) - len(missed)} of {len(goals)} goals are met"
    return (
        f"**In short.** {met}; missed: {'; '.join(missed) or 'none'}.\n"
        "Later sections: [answers](#answers), [text for verifiers](#preparing-text-for-verifiers), "
        "[scoring on a GPU](#local-scoring-on-a-gpu), [the gateway](#gateway)."
    )


def main() -> int:
    wanted = sys.argv[1:] or PARTS
    rows: list[Row] = []
    for part in wanted:
        for row in import_module(f"benchmarks.{part}").rows():
            print(f"{'ok  ' if row.met else 'MISS'} {row.what}: {row.figure}, goal {row.goal}", flush=True)
            rows.append(row)
    if tuple(wanted) == PARTS:
        PAGE.write_text(with_head(PAGE.read_text(), page(rows)))  # the sections have commands of their own
        print(f"written to {PAGE.relative_to(Path.cwd())}")
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
