"""Whether the graded responses of a table are free text, which no kind of exact answers can compare.

Labels per response tell: if two responses to a question are both correct, a kind that fits reads the same answer from
both. Among correct solutions of MATH all pairs agree as `math`; among correct sentences of SimpleQA, one pair in five
agrees as `text`.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from steelyard.answers.kind_choice import DEFAULT, KindChoice
from steelyard.answers.reader import AnswerReader
from steelyard.answers.sentences import kind_of_sentences
from steelyard.tables.labels import label_expression

ROWS = 4_000  # correct responses that are loaded
QUESTIONS, RESPONSES = 100, 6  # compared: questions, and correct responses of each
MIN_QUESTIONS, MIN_PAIRS = 5, 20
AGREEING = 0.5  # a larger share of pairs, or of answers that match the gold answer, speaks for the kind


def free_text(frame: pl.LazyFrame, choice: KindChoice, gold: pl.Expr | None) -> KindChoice | None:
    """Return the choice of free text, if it is safe to prefer it to the `choice` of another kind."""
    unsure = choice.kind == "text" or (choice.kind == DEFAULT and (gold is None or choice.doubtful))
    label = label_expression(frame.collect_schema())
    if not unsure or label is None:
        return None
    rows = _correct_responses(frame, label, gold)
    sizes = rows.group_by("question").len()["len"]
    pairs = int((sizes * (sizes - 1) // 2).sum())
    free = kind_of_sentences(rows["response"].to_list())
    if len(sizes) < MIN_QUESTIONS or pairs < MIN_PAIRS or free is None:
        return None
    agreeing, matching = _agreement(rows, choice.kind)
    if agreeing >= AGREEING * pairs or matching >= AGREEING * rows.height:
        return None
    return KindChoice(
        free,
        f"only {agreeing:,} of {pairs:,} pairs of correct responses give the same answer as {choice.kind}, so "
        "responses that are alike vote for each other",
    )


def _correct_responses(frame: pl.LazyFrame, label: pl.Expr, gold: pl.Expr | None) -> pl.DataFrame:
    """Return question, response and gold of some correct responses: several to each of some questions."""
    columns = [pl.col("question", "response"), *([] if gold is None else [gold])]
    correct = frame.filter(label, pl.col("response").str.strip_chars() != "").select(columns)
    rows = correct.head(ROWS).collect()
    questions = rows["question"].unique(maintain_order=True).head(QUESTIONS)
    if len(rows) == ROWS:  # the rows of a question may be scattered
        rows = correct.filter(pl.col("question").is_in(questions.implode())).head(ROWS).collect(engine="streaming")
    rows = rows.filter(pl.col("question").is_in(questions.implode()))
    some = rows.group_by("question", maintain_order=True).head(RESPONSES)
    return some.filter(pl.len().over("question") > 1)


def _agreement(rows: pl.DataFrame, kind: str) -> tuple[int, int]:
    """Return how many pairs of responses to a question give the same answer, and how many match the gold answer."""
    reader = AnswerReader(kind)
    reader.until = -math.inf  # start no process to compare answers
    try:
        answers = pl.Series([reader.kind.extract(text).answer for text in rows["response"]], dtype=pl.String)
        question = (rows["question"].rank("dense") - 1).to_numpy().astype(np.int64)
        matching = 0
        if "gold" in rows.columns:
            golds = rows.group_by("question").agg(pl.col("gold").first()).sort("question")["gold"]
            keys, correct = reader.labelled(answers, question, golds)
            matching = int(correct.sum())
        else:
            keys = reader.keys(answers, question)
    finally:
        reader.close()
    same = pl.DataFrame({"question": question, "key": keys}).drop_nulls().group_by("question", "key").len()["len"]
    return int((same * (same - 1) // 2).sum()), matching
