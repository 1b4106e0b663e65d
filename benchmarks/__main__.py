"""`make bench`: run every benchmark, print the table, and write it to docs/benchmarks.md.

`python -m benchmarks PART...` measures some of them again and replaces their rows.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numba
import numpy as np
import polars as pl

import steelyard as sy
from benchmarks.measuring import Row
from benchmarks.page_sections import PAGE, with_head

PARTS = (
    "startup",
    "tally",
    "calibration",
    "committee",
    "kde",
    "curves",
    "similarity",
    "files",
    "runs",
    "sampling",
    "growth",
)
SECTIONS = ("growth",)  # those that write a section of their own
TITLE = "# Benchmarks"
HEAD = """`make bench` makes the first table; each later section names its own command. Most figures are ratios of two
things measured alternately in one run, because machines differ and are noisy: a ratio holds on other machines, the
seconds in brackets do not. A figure that ends with the name of a processor was measured on a machine with that one.

The limit of a tally is np.sum of the same arrays, which reads the same 12 bytes per response, a weight and an answer.
What a tally does beyond that is an addition at the place of the answer, and the comparison of the answers of each
question."""
MAIN = ("tally of 1e8 responses, one thread", "10 M rows of Parquet", "generate, 0 ms")  # rows in the summary


def this_machine() -> str:
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"numpy {np.__version__}, numba {numba.__version__}, polars {pl.__version__}, Steelyard {sy.__version__}"
    )


def page(rows: list[Row], old: str, where: str) -> str:
    table = ["| what | measured | goal | met |", "|---|---|---|---|"]
    table += [f"| {row.what} | {row.figure} | {row.goal} | {'yes' if row.met else '**no**'} |" for row in rows]
    return "\n\n".join((TITLE, in_short(rows, old), HEAD, f"Measured on: {where}.", "\n".join(table))) + "\n"


def in_short(rows: list[Row], old: str) -> str:
    """The summary of the page: these rows, and those in the later sections of the page as it is."""
    goals = [row for row in (*rows, *_later(old)) if row.goal != "no goal"]
    missed = [f"{row.what} ({row.figure}, goal {row.goal})" for row in goals if not row.met]
    return "\n".join(
        (
            f"**In short.** Speed and memory, without standard errors; {len(goals) - len(missed)} of {len(goals)} "
            "goals are met. Main figures:",
            *(f"- {row.what}: {row.figure}." for row in rows if row.what.startswith(MAIN) and row.goal != "yes"),
            f"- **Missed**: {'; '.join(missed) or 'none'}.",
            "- Later sections: [answers](#answers), [text for verifiers](#preparing-text-for-verifiers), "
            "[scoring on a GPU](#local-scoring-on-a-gpu), [the gateway](#gateway).",
        )
    )


def replaced(stored: list[Row], rows: list[Row], where: str) -> list[Row]:
    """Stored rows with those that were measured again; new ones come last. `where` were the stored ones measured?"""
    processor = platform.machine()
    mark = "" if where.startswith(f"{processor},") else f", on {processor}"
    new = {row.what: replace(row, figure=row.figure + mark) for row in rows}
    return [*(new.pop(row.what, row) for row in stored), *new.values()]


def _later(old: str) -> list[Row]:
    """The rows of the later sections of a page, which have commands of their own."""
    return [row for section in re.split(r"\n## ", old)[1:] for row in _stored_rows(section)]


def _stored_rows(section: str) -> list[Row]:
    lines = re.findall(r"^\| (.+) \| (.+) \| (.+) \| (yes|\*\*no\*\*) \|$", section, re.MULTILINE)
    return [Row(what, figure, goal, met == "yes") for what, figure, goal, met in lines]


def _measured_on(old: str) -> str:
    found = re.search(r"^Measured on: (.+)\.$", old, re.MULTILINE)
    return found[1] if found else this_machine()


def _show(row: Row, before: str = "") -> None:
    print(f"{before}{'ok  ' if row.met else 'MISS'} {row.what}: {row.figure}, goal {row.goal}", flush=True)


def main() -> int:
    wanted = sys.argv[1:] or PARTS
    rows: list[Row] = []
    for part in wanted:
        for row in import_module(f"benchmarks.{part}").rows():
            _show(row)
            rows += [row] if part not in SECTIONS else []
    old = PAGE.read_text()
    where = this_machine()
    if tuple(wanted) != PARTS:
        where = _measured_on(old)
        rows = replaced(_stored_rows(re.split(r"\n## ", old)[0]), rows, where)
    PAGE.write_text(with_head(old, page(rows, old, where)))  # the sections have commands of their own
    for row in _later(old) if tuple(wanted) == PARTS else ():
        _show(row, "stored ")
    print(f"written to {PAGE.relative_to(Path.cwd())}")
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
