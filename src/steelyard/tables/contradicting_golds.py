"""Labels in `correct` that contradict `gold`: inverted, shifted by a row, or joined to the wrong rows.

Only rows whose answer is exactly the gold answer count. An answer that differs from the gold answer is no evidence: a
judge may rightly accept other wordings.
"""

from __future__ import annotations

import warnings

import polars as pl

from steelyard.answers.golds import accepted
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import LabelError, SteelyardWarning

INSPECTED_ROWS = 500
MIN_ROWS = 10  # rows whose answer is the gold answer
REFUSED, SUSPICIOUS = 0.5, 0.1  # shares of these rows labelled incorrect: refused, or a warning


def check_golds(rows: pl.DataFrame, reader: AnswerReader) -> None:
    """Compare labels with golds: `rows` has question, gold, correct, and answer or response."""
    read = _with_answers(rows.drop_nulls(), reader)
    golds = {gold: {text.strip() for text in accepted(gold, reader.kind)} for gold in set(read["gold"])}
    pairs = read.select("answer", "gold").iter_rows()
    same = [answer is not None and answer.strip() in golds[gold] for answer, gold in pairs]
    matching = read.filter(pl.Series(same, dtype=pl.Boolean))
    wrong = matching.filter(~pl.col("correct"))
    if matching.height < MIN_ROWS or wrong.height < SUSPICIOUS * matching.height:
        return
    first = wrong.row(0, named=True)
    message = (
        f"'correct' disagrees with 'gold': it is false in {wrong.height / matching.height:.0%} of the rows whose "
        f"answer is the gold answer, first in question {str(first['question'])!r:.80}, answer {first['answer']!r:.80}"
    )
    fix = (
        f"drop the column that is wrong; {argument('rename', {'correct': 'was_correct'})} takes the labels from 'gold'"
    )
    if wrong.height >= REFUSED * matching.height:
        raise LabelError(f"{message}: {fix}")
    warnings.warn(f"{message}; the labels are those of 'correct': {fix}", SteelyardWarning, stacklevel=3)


def _with_answers(rows: pl.DataFrame, reader: AnswerReader) -> pl.DataFrame:
    if "answer" in rows.columns:
        return rows
    answers = [reader.kind.extract(text).answer for text in rows["response"]]
    return rows.with_columns(answer=pl.Series(answers, dtype=pl.String))
