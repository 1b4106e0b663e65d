"""How often the labels that are derived from golds agree with the labels that a benchmark has given itself.

`python -m benchmarks.own_labels FILE KIND [LIMIT]`: the file has `question`, `gold`, `correct` and `response` or
`answer`. Questions are split in two halves by a hash of their id: differences of the first are printed, those of the
second are only counted, so that nobody tunes the reading on them.
"""

from __future__ import annotations

import sys
from zlib import crc32

import numpy as np
import polars as pl

from steelyard.answers.reader import AnswerReader

NAMES = {"question_id": "question", "response_text": "response", "ground_truth": "gold"}
SHOWN = 20


def compared(table: pl.DataFrame, kind: str) -> pl.DataFrame:
    """The rows with the answer that was read, whether it is the gold one, and whether they may be looked at."""
    theirs = {name: ours for name, ours in NAMES.items() if name in table.columns}
    rows = table.drop(theirs.values(), strict=False).rename(theirs)
    rows = rows.filter(pl.col("correct").is_not_null() & pl.col("gold").is_not_null()).sort("question")
    reader = AnswerReader(kind)
    golds = rows.unique("question", maintain_order=True, keep="first")
    numbers = rows["question"].rank("dense").to_numpy().astype(np.int64) - 1
    reader.look_at_golds(golds["gold"], rows["answer" if "answer" in rows.columns else "response"].head(500))
    answers = rows["answer"] if "response" not in rows.columns else _read(rows, reader)
    _, same = reader.labelled(answers.cast(pl.String), numbers, golds["gold"].cast(pl.String))
    reader.close()
    shown = pl.Series("looked_at", [crc32(str(question).encode()) % 2 == 0 for question in rows["question"]])
    return rows.with_columns(answers.alias("answer"), pl.Series("derived", same), shown)


def _read(rows: pl.DataFrame, reader: AnswerReader) -> pl.Series:
    return pl.Series("answer", [reading.answer for reading in reader.extract(rows["response"])], pl.String)


def main(path: str, kind: str, limit: int | None = None) -> None:
    """Print the agreement of both halves, and some differences of the first."""
    table = pl.read_parquet(path)
    rows = compared(table.head(limit) if limit else table, kind)
    differs = rows.filter(pl.col("derived") != pl.col("correct"))
    for looked_at, name in ((True, "looked at"), (False, "only counted")):
        size, wrong = (each.filter(pl.col("looked_at") == looked_at).height for each in (rows, differs))
        print(f"{name}: {100 * (1 - wrong / max(1, size)):.2f} % of {size:,} labels agree")
    for row in differs.filter("looked_at").head(SHOWN).iter_rows(named=True):
        print(f"{row['question']}: read {row['answer']!r}, gold {row['gold']!r}, labelled {row['correct']}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)
