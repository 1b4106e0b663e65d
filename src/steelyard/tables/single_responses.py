"""Files with one response per question, on which a vote is pointless: question files, verdicts, or single samples.

Their `answer` may even be the correct answer: a vote of one would then be right with a confidence of 100 %.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.tables.columns import score_columns
from steelyard.tables.known_outputs import VERDICTS
from steelyard.tables.source_column import llm_column
from steelyard.voting.pools.arrays import Ints

MOSTLY = 0.95  # share of questions in a question file that are unique; published sets may repeat some
OF_RESPONSES = {"response", "sample", "correct"}  # columns that no question file has


def single_responses(schema: pl.Schema, starts: Ints, name: str) -> str:
    """Return what is wrong with a table with one response per question; empty if it has several."""
    single = float((np.diff(starts) == 1).mean())
    questions_only = is_question_file(schema)
    if single < (MOSTLY if questions_only else 1.0):
        return ""
    if set(schema) >= VERDICTS.columns:
        fix = "these are the verdicts of a vote; 'steelyard compare A B --on LABELLED' compares two files of them"
    elif questions_only:
        fix = (
            "it looks like a question file, whose 'answer' is the correct answer and not a response; sample responses "
            "with 'steelyard generate FILE'"
        )
    else:
        fix = (
            "sample several responses per question; if several rows do answer one question, name the column they "
            f"share with {argument('rename', {'COLUMN': 'question'})}"
        )
    return f"{name}: every question has one response, so there is nothing to vote on: {fix}"


def is_question_file(schema: pl.Schema) -> bool:
    """Whether nothing in a table indicates that its answers are those of an LLM."""
    return not (OF_RESPONSES & set(schema) or score_columns(schema) or llm_column(schema))
