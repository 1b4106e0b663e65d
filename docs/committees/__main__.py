"""Measure committees and write docs/committees.md: python -m docs.committees --math FILE --mmlu FILE --grid.

With none of these the page and its picture are made again of the stored figures. crowd-kit is measured beside
it where it is installed; elsewhere its stored figures stay.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

import steelyard as sy
from docs.committees.cascade_picture import cascade_picture
from docs.committees.cascades import cascades
from docs.committees.closed_sets import by_rule
from docs.committees.lengths import by_length
from docs.committees.measuring import by_labels, by_size, without_best
from docs.committees.page import text
from docs.committees.peers import peers
from docs.committees.picture import picture
from docs.committees.scores import by_mix
from docs.committees.sets import grid_pool, math_pool, mmlu_pool

HERE = Path(__file__).parent
LENGTHS = {"lengths": by_length}
VOTES = {"labels": by_labels, "sizes": by_size, "best": without_best, "peers": peers, "rules": by_rule}
PARTS = VOTES | {"cascades": cascades} | LENGTHS
Measured = Callable[[str, sy.LabelledPool], pl.DataFrame]


def measure(pools: dict[str, sy.LabelledPool], parts: Mapping[str, Measured]) -> None:
    """Measure the sets that are there; the stored figures of the others stay."""
    for part, measured in parts.items():
        path = HERE / f"{part}.csv"
        found = pl.concat([measured(name, pool) for name, pool in pools.items()])
        if path.exists():
            found = pl.concat([found, _kept(path, part, found)])
        found.sort("set", maintain_order=True).write_csv(path, float_precision=6)
        print(f"measured: {part}", flush=True)


def _kept(path: Path, part: str, found: pl.DataFrame) -> pl.DataFrame:
    """The stored rows that were not measured again: those of another set, and peers that are not installed."""
    key = ["set", "way"] if part == "peers" else ["set"]
    stored = pl.read_csv(path, schema=dict(found.schema))
    return stored.join(found, on=key, how="anti")


def main(words: Sequence[str] | None = None) -> None:
    """Read the files that are given, measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m docs.committees", description=__doc__)
    parser.add_argument("--math", type=Path, metavar="FILE", help="Answers of LLMs to MATH level 5 (ZeroEval).")
    parser.add_argument("--mmlu", type=Path, metavar="FILE", help="Answers of LLMs to MMLU-Pro.")
    parser.add_argument("--grid", action="store_true", help="Measure the bundled grid: several verifiers, and lengths.")
    parser.add_argument("--only", choices=PARTS, help="Measure this one part of the two sets.")
    given = parser.parse_args(words)
    warnings.simplefilter("ignore", sy.SteelyardWarning)
    readers = {"math": (given.math, math_pool), "mmlu": (given.mmlu, mmlu_pool)}
    if pools := {name: reader(path) for name, (path, reader) in readers.items() if path is not None}:
        measure(pools, {part: measured for part, measured in PARTS.items() if given.only in (None, part)})
    if given.grid:
        by_mix().write_csv(HERE / "mixes.csv", float_precision=6)
        measure({"grid": grid_pool()}, LENGTHS)
    (HERE.parent / "committees.svg").write_text(picture(pl.read_csv(HERE / "labels.csv")))
    (HERE.parent / "cascades.svg").write_text(cascade_picture(pl.read_csv(HERE / "cascades.csv")))
    (HERE.parent / "committees.md").write_text(text())
    print("written: docs/committees.md, docs/committees.svg, docs/cascades.svg")


if __name__ == "__main__":
    main()
