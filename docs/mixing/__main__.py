"""Measure mixes of several verifiers and write docs/mixing.md: python -m docs.mixing FOLDER.

FOLDER has rewardmath_even.parquet (242 problems, 10 solutions each, one of them right, 22 verifiers), which is not part
of this repository. Without it the page is made of the stored figures.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path

import steelyard as sy
from docs.mixing.measuring import grid, rewardmath
from docs.mixing.page import HERE, text


def main(words: Sequence[str] | None = None) -> None:
    """Measure if there is a folder, write the page, and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m docs.mixing", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="Where rewardmath_even.parquet is.")
    options = parser.parse_args(words)
    if options.folder is not None:
        warnings.simplefilter("ignore", sy.SteelyardWarning)
        rewardmath(options.folder / "rewardmath_even.parquet").write_csv(HERE / "rewardmath.csv", float_precision=6)
        grid().write_csv(HERE / "grid.csv", float_precision=6)
    (HERE.parent / "mixing.md").write_text(text())
    print(text())


if __name__ == "__main__":
    main()
