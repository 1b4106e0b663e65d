"""Measure the vote on free text and write docs/free.md: python -m docs.free FOLDER [--only PART].

FOLDER has simpleqa_even.parquet (question, prompt, llm, response, grade) and bfcl_even.parquet (question, category,
llm, answer, correct), which are not part of this repository. Without it the page is made of the stored figures.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import polars as pl

import steelyard as sy
from docs.free.measuring import PARTS, by_similarity, questions_pool, tool_calls
from docs.free.page import picture, text

HERE = Path(__file__).parent


def main(words: Sequence[str] | None = None) -> None:
    """Measure what is named, and write the page and its picture."""
    parser = argparse.ArgumentParser(prog="python -m docs.free", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="Where the two files are.")
    parser.add_argument("--only", choices=[*PARTS, "similarities", "tools"], help="Measure one part.")
    given = parser.parse_args(words)
    warnings.simplefilter("ignore", sy.SteelyardWarning)
    if given.folder is not None:
        questions, calls = given.folder / "simpleqa_even.parquet", given.folder / "bfcl_even.parquet"
        measured: dict[str, Callable[[], pl.DataFrame]] = {
            name: partial(measure, questions_pool(questions)) for name, measure in PARTS.items()
        }
        measured |= {"similarities": partial(by_similarity, questions), "tools": partial(tool_calls, calls)}
        for name, measure in measured.items():
            if given.only in (None, name):
                measure().write_csv(HERE / f"{name}.csv", float_precision=6)
                print(f"measured: {name}", flush=True)
    (HERE.parent / "free.svg").write_text(picture(pl.read_csv(HERE / "labels.csv")))
    (HERE.parent / "free.md").write_text(text())
    print("written: docs/free.md, docs/free.svg")


if __name__ == "__main__":
    main()
