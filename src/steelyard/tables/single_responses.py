"""A file with one response per question has nothing to vote on: it is a question file, or verdicts, or one sample each.

Its `answer` may even be the correct answer: by a vote of one, every such file is right at confidence 100 %.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.tables.columns import score_columns
from steelyard.tables.known_outputs import VERDICTS
from steelyard.tables.source_column import llm_column
from steelyard.voting.pools.arrays import Ints

MOSTLY = 0.95  # share of the questions of a question file that stand there once; a published set may repeat some
OF_RESPONSES = {"response", "sample", "correct"}  # columns that no question file has


def single_responses(schema: pl.Schema, starts: Ints, name: str) -> str:
    """Say what is wrong with a table whose questions have one response each; empty where they have several."""
    single = float((np.diff(starts) == 1).mean())
    questions_only = is_question_file(schema)
    if single < (MOSTLY if questions_only else 1.0):
        return ""
    if set(schema) >= VERDICTS.columns:
        fix = "these are the verdicts of a vote; 'steelyard compare A B --on LABELLED' compares two files of them"
    elif questions_only:
        fix = (
            "it looks like a question file, whose 'answer' is the correct answer and no response; sample responses "
            "with 'steelyard generate FILE'"
        )
    else:
        fix = (
            "sample several responses per question; if several rows do answer one question, name the column that "
            f"they share with {argument('rename', {'COLUMN': 'question'})}"
        )
    return f"{name}: every question has one response, so there is nothing to vote on: {fix}"


def is_question_file(schema: pl.Schema) -> bool:
    """Whether nothing in a table says that its answers are those of an LLM."""
    return not (OF_RESPONSES & set(schema) or score_columns(schema) or llm_column(schema))
