"""`python -m benchmarks.peers.page`: what the comparison stored, in docs/alternatives.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.page_sections import with_section
from benchmarks.peers.catalogue import COMMITTEE, GRID

DOCS = Path(__file__).parents[2] / "docs"
PAGE, STORED = DOCS / "alternatives.md", DOCS / "peers.json"
TITLE = "The same responses, voted on by each"
HEAD = """Made by `python -m benchmarks.peers` on {date} ({where}, Steelyard {steelyard}).
Every package is installed in its own environment and runs in its own process. No rule sees a label; all decide the
same {questions:,} questions of the bundled grid.
"""
GRID_TITLE = "16 samples of `smol-misled` with the scores of `prm_soft`"
COMMITTEE_TITLE = "One sample of each of the five LLMs, as a choice among the letters A to E"
LEGEND = """"Differ" counts the questions where the verdict is not Steelyard's. The number in brackets leaves out ties:
questions where both verdicts are equally good by the rule.

CPU and memory are relative to Steelyard in the same run: 10 x means that the package needs ten times as much. CPU
is the vote alone, the least of a few calls, on responses in memory in the form that the package takes: for Steelyard
a table, in which it groups the texts of the answers; for most others a list of texts per question. its_hub and
optillm vote inside their loop that samples, so their CPU includes the loop. Memory is the peak of the process.
"Large" repeats the questions {times} times; "-" means not run, as it would take more than {affordable:.0f} s.

Re-implemented rules are on no package index: they are a few lines of plain Python after the published rule. For one
simple vote on lists that are in memory, such a loop is faster than Steelyard on 1,000 questions.
"""
COLUMNS, RULE = (
    "| package | rule | Steelyard | accuracy | Steelyard | differ | CPU | memory |",
    "|---|---|---|" + 5 * "---:|",
)
LARGE_COLUMNS, LARGE_RULE = " CPU, large | memory, large |", "---:|---:|"


def section(results: Mapping[str, Any]) -> str:
    """The text of the section."""
    rows = results["rows"]
    parts = [HEAD.format(**results)]
    for responses, title in ((GRID, GRID_TITLE), (COMMITTEE, COMMITTEE_TITLE)):
        shown = [row for row in rows if row["responses"] == responses and "failure" not in row]
        if shown:
            large = responses == GRID
            head = [COLUMNS + LARGE_COLUMNS * large, RULE + LARGE_RULE * large]
            parts += [f"{title}:\n", "\n".join([*head, *(_line(row, large=large) for row in shown)]) + "\n"]
    parts.append(LEGEND.format(**results))
    parts.append(_notes(rows))
    failures = dict.fromkeys(f"- {row['peer']}, {row['rule']}: {row['failure']}" for row in rows if "failure" in row)
    if failures:
        parts.append("Not run:\n\n" + "\n".join(failures) + "\n")
    return "\n".join(parts)


def _line(row: Mapping[str, Any], *, large: bool) -> str:
    package = f"{row['peer']} {row['version']}" if row["version"] else f"{row['peer']} (re-implemented)"
    cells = [package, row["rule"], f"`{row['own']}`", *(f"{100 * row[k]:.1f} %" for k in ("accuracy", "own_accuracy"))]
    cells.append(f"{row['differ']} ({row['differ'] - row['ties']})")
    for cost in (row["cost"], row.get("large"))[: 1 + large]:
        cells += [_times(cost[k]) for k in ("cpu", "memory")] if cost else ["-", "-"]
    return f"| {' | '.join(cells)} |"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f} x" if ratio >= 10 else f"{ratio:.1f} x"


def _notes(rows: Iterable[Mapping[str, Any]]) -> str:
    notes = [f"- {row['peer']}, {row['rule']}: {row['note']}." for row in rows if row["note"] and row.get("differ")]
    return "Why verdicts differ:\n\n" + "\n".join(notes) + "\n" if notes else ""


def unexplained(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Rules that ought to be the same, with verdicts that differ other than by ties."""
    return [
        f"{row['peer']}, {row['rule']}: {row['differ'] - row['ties']} verdicts differ"
        for row in rows
        if row["same"] and "failure" not in row and row["differ"] > row["ties"]
    ]


def stored() -> Mapping[str, Any]:
    results: Mapping[str, Any] = json.loads(STORED.read_text())
    return results


def write() -> None:
    """Write the section."""
    PAGE.write_text(with_section(PAGE.read_text(), TITLE, section(stored())))


if __name__ == "__main__":
    write()
