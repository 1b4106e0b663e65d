"""One row per response, with our names or with others that are known."""

from __future__ import annotations

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError
from steelyard.tables.chat_texts import flattened, with_step_scores
from steelyard.tables.gold_or_answer import (
    check_answer_is_gold,
    check_gold_alone,
    check_label_of_questions,
    check_unknown_lists,
)
from steelyard.tables.label_words import are_labels
from steelyard.tables.letter_case import chosen_in_our_case
from steelyard.tables.list_answers import with_list_answers
from steelyard.tables.mixed_tasks import apart_by_task
from steelyard.tables.names import (
    ANSWERS,
    GOLDS,
    LABELS,
    LATE_GOLDS,
    QUESTION_IDS,
    QUESTION_TEXTS,
    RESPONSES,
    ROW_IDS,
    accepted_lists,
    first_of,
    is_label,
    key,
    named,
    only,
)
from steelyard.tables.percentages import in_percent, with_shares
from steelyard.tables.recognition import Converted, Layout, Opened


class Long(Layout):
    name = "long"
    title = "long table"
    about = "any table: one row per response, by the names of docs/table.md or known others (prompt, completion, ..)"
    turn = 9  # what no other layout recognises

    def recognises(self, opened: Opened) -> bool:
        frame = opened.frame()
        check_unknown_lists(frame.collect_schema())
        check_gold_alone(frame)
        return True

    def read(self, opened: Opened) -> Converted:
        frame = with_list_answers(with_step_scores(flattened(opened.frame())))
        percent = in_percent(frame)
        frame = with_shares(frame, percent)
        schema = frame.collect_schema()
        flat = [name for name, kind in schema.items() if not kind.is_nested()]
        meant = _texts(schema, flat) | _labels(frame, schema, flat) | chosen_in_our_case(schema)
        question = None if "question" in schema else _question(frame, flat)
        if question:
            meant["question"] = question
        notes = [f"{theirs!r} read as {ours!r}" for ours, theirs in meant.items()]
        notes += [f"{name!r} read as percent (87 % is 0.87)" for name in percent]
        frame = frame.with_columns(pl.col(theirs).alias(ours) for ours, theirs in meant.items())
        if "correct" in meant or schema.get("correct") == pl.String:
            check_label_of_questions(frame, meant.get("correct", "correct"))
        check_answer_is_gold(frame)
        frame, apart = apart_by_task(frame)
        return Converted(frame, ", ".join([*notes, *([apart] if apart else [])]))


def _texts(schema: pl.Schema, flat: list[str]) -> dict[str, str]:
    """Where the response and its answer stand, in a table that has neither by our names."""
    if "answer" in schema or "response" in schema:
        return {}
    found = {ours: only(named(flat, known), ours) for ours, known in (("response", RESPONSES), ("answer", ANSWERS))}
    return {ours: theirs for ours, theirs in found.items() if theirs}


def _labels(frame: pl.LazyFrame, schema: pl.Schema, flat: list[str]) -> dict[str, str]:
    """Where it stands what is correct, in a table that has neither `correct` nor `gold`."""
    if "correct" in schema or "gold" in schema:
        return {}
    labels = [name for name in named(flat, LABELS) if _has_labels(frame, name)]
    correct = only(labels, "correct")
    if correct:
        return {"correct": correct}
    gold = first_of(flat, (GOLDS,), "gold") or only(
        [name for name in named(flat, LATE_GOLDS) if schema[name] == pl.String], "gold"
    )
    gold = gold or only(accepted_lists(schema), "gold")
    return {"gold": gold} if gold else {}


def _has_labels(frame: pl.LazyFrame, name: str) -> bool:
    """Whether a column labels responses: true and false, 1 and 0, or words that say so."""
    kind = frame.collect_schema()[name]
    if kind == pl.String:
        return are_labels(frame, name, judged=key(name) in LATE_GOLDS)
    return is_label(kind) and _is_binary(frame, name)


def _is_binary(frame: pl.LazyFrame, name: str) -> bool:
    return bool(frame.select(pl.col(name).cast(pl.Float64).is_in([0.0, 1.0]).all()).collect(engine="streaming").item())


def _question(frame: pl.LazyFrame, flat: list[str]) -> str | None:
    """The column that responses to one question share: its id, or its text where an id is that of a row."""
    found, texts = first_of(flat, (QUESTION_IDS,), "question"), named(flat, QUESTION_TEXTS)
    rows = found or only(named(flat, ROW_IDS), "question")
    if not rows:
        return only(texts, "question")
    if not texts:
        return rows
    counts = frame.select(pl.len(), pl.col(rows).n_unique().alias("ids"), pl.struct(texts).n_unique().alias("texts"))
    size, ids, distinct = counts.collect(engine="streaming").row(0)
    if ids == size and distinct < size:  # it numbers the rows
        return only(texts, "question")
    if ids != distinct and not found:
        raise ColumnError(
            f"several columns could be 'question': {', '.join((rows, *texts))}, and they tell different questions "
            f"apart; choose one with {argument('rename', {rows: 'question'})}"
        )
    return rows
