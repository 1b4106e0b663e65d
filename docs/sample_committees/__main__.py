"""Measure divisions of samples among LLMs and write docs/sample-committees.md.

python -m docs.sample_committees [FOLDER]: the folder with the three files that the page describes, which are not part
of this repository. Without it the page and its picture are made of the stored figures.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path

import steelyard as sy
from docs.sample_committees.measuring import measure
from docs.sample_committees.page import HERE, stored, text
from docs.sample_committees.picture import picture


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure if there is a folder, and write the page and its picture."""
    parser = argparse.ArgumentParser(prog="python -m docs.sample_committees", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="The folder with the three files.")
    folder: Path | None = parser.parse_args(arguments).folder
    warnings.simplefilter("ignore", sy.SteelyardWarning)
    if folder is not None:
        for name, table in measure(folder).items():
            table.write_csv(HERE / f"{name}.csv", float_precision=6)
    (HERE.parent / "sample-committees.svg").write_text(picture(stored("accuracy")))
    (HERE.parent / "sample-committees.md").write_text(text())
    print("written: docs/sample-committees.md, docs/sample-committees.svg")


if __name__ == "__main__":
    main()
