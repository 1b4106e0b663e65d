"""Measure every method and write docs/leaderboard.md: python -m docs.leaderboard [--grid] [FOLDER].

--grid measures the bundled pairs; FOLDER has the files named in docs/leaderboard/sets.py, which are not part of this
repository. What is not measured keeps its stored figures.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

import steelyard as sy
from docs.leaderboard.page import picture, text
from docs.leaderboard.sets import committee_sets, grid_sets, public_sets
from steelyard.evaluation import Leaderboard, ResponseSet, leaderboard

HERE = Path(__file__).parent


def measure(name: str, sets: Iterable[ResponseSet]) -> None:
    """Measure some sets, in groups of the same questions, and store the tables."""
    board = leaderboard(list(sets), progress=lambda share: print(f"\r{name}: {share:.0%}", end="", flush=True))
    print()
    board.table.write_csv(HERE / f"{name}.csv", float_precision=6)
    board.samples_to_match.write_csv(HERE / f"{name}_match.csv", float_precision=6)
    per_set(board).write_csv(HERE / f"{name}_sets.csv", float_precision=6)


def per_set(board: Leaderboard) -> pl.DataFrame:
    """The accuracy of every method on every set."""
    rows = [
        (result.name, result.labels, n, method, float(result.of(method, n).mean()), len(result.questions))
        for result in board.results
        for n in result.sizes
        for method in result.methods
    ]
    return pl.DataFrame(rows, ["set", "labels", "n", "method", "accuracy", "questions"], orient="row")


def main(words: Sequence[str] | None = None) -> None:
    """Measure what is named, and write the page and its picture."""
    parser = argparse.ArgumentParser(prog="python -m docs.leaderboard", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="Where the public files are.")
    parser.add_argument("--grid", action="store_true", help="Measure the bundled pairs.")
    given = parser.parse_args(words)
    warnings.simplefilter("ignore", sy.SteelyardWarning)
    if given.grid:
        measure("grid", grid_sets())
    if given.folder is not None:
        measure("public", public_sets(given.folder))
        measure("committees", committee_sets(given.folder))
    (HERE.parent / "leaderboard.svg").write_text(picture())
    (HERE.parent / "leaderboard.md").write_text(text())
    print("written: docs/leaderboard.md, docs/leaderboard.svg")


if __name__ == "__main__":
    main()
