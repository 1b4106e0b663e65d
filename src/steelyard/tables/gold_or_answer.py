"""Tables in which `answer` may be the correct answer: read as the answer of the responses, it would win every vote."""

from __future__ import annotations

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError
from steelyard.tables.label_words import are_labels, labels_of
from steelyard.tables.names import QUESTION_IDS, QUESTION_TEXTS, RESPONSES, columns_named, key

NO_RESPONSES = {
    "choices", "options", "steps", "messages", "tags", "stop", "tokens", "tools", "keywords", "categories", "subjects",
    "gold", "domain", "images", "hints", "references", "sources",
}  # fmt: skip
INSPECTED_ROWS = 5_000
OURS = {"sample", "tokens"}  # columns of a run, whose answers were read by Steelyard
MIN_ROWS = 10  # for refusing an answer that always equals the gold answer
MIN_QUESTIONS = 5  # with different answers and one label, for refusing the labels
ABSENT = 0.1  # share of responses that may not contain the answer read from them as written


def check_unknown_lists(schema: pl.Schema) -> None:
    """Refuse an `answer` next to an unknown list of texts: it would be the gold answer and win every vote."""
    texts = [name for name, kind in schema.items() if not kind.is_nested()]
    if "answer" not in texts or any(key(name) in RESPONSES - {"text", "output"} for name in texts):
        return
    lists = [name for name, kind in schema.items() if kind == pl.List(pl.String) and key(name) not in NO_RESPONSES]
    if lists:
        raise ColumnError(
            f"{lists[0]!r} is a list of texts in a table with 'answer': if these are the responses, read it with "
            f"{argument('rename', {lists[0]: 'response'})}; if they are not, with {argument('layout', 'long')}"
        )


def check_gold_alone(frame: pl.LazyFrame) -> None:
    """Refuse a table in which all responses of a question have the same `answer`, but many do not contain it."""
    schema = frame.collect_schema()
    columns = _columns(schema)
    if columns is None or "gold" in schema or set(schema) >= OURS:
        return
    rows = frame.select(columns).head(INSPECTED_ROWS).collect().drop_nulls()
    counts = rows.group_by("question").agg(pl.exclude("question").n_unique())
    if counts["answer"].max() != 1 or (counts["response"].max() or 0) < 2:  # type: ignore[operator]
        return
    if "correct" in counts.columns and counts["correct"].max() == 1:  # the labels agree with the answers
        return
    contained = rows.select(
        pl.col("response").str.contains(pl.col("answer").str.strip_chars(), literal=True).mean()
    ).item()
    if 1 - contained > ABSENT:
        raise ColumnError(
            "'answer' is the same for all responses of each question, but many of them do not contain it: if it is "
            f"the correct answer, read it with {argument('rename', {'answer': 'gold'})}; if it is what they answer, "
            f"with {argument('layout', 'long')}"
        )


def check_answer_is_gold(frame: pl.LazyFrame) -> None:
    """Refuse an `answer` that equals the gold answer in every row, if many responses do not contain it."""
    schema = frame.collect_schema()
    if not {"answer", "gold"} <= set(schema) or schema.get("response") != pl.String:
        return
    if any(schema[name].is_nested() for name in ("answer", "gold")):
        return
    texts = frame.select(pl.col("answer", "gold").cast(pl.String).str.strip_chars(), "response")
    rows = texts.head(INSPECTED_ROWS).collect().drop_nulls()
    if rows.height < MIN_ROWS or not (rows["answer"] == rows["gold"]).all():
        return
    if 1 - rows.select(pl.col("response").str.contains(pl.col("answer"), literal=True).mean()).item() > ABSENT:
        raise ColumnError(
            "'answer' is the gold answer in every row, but many responses do not contain it: read the answers from the "
            f"responses with {argument('rename', {'answer': 'reference'})}"
        )


def check_label_of_questions(frame: pl.LazyFrame, label: str) -> None:
    """Refuse a column named like labels that is the same for all answers of a question: it labels the question."""
    schema = frame.collect_schema()
    is_text = schema.get("correct") == pl.String
    doubtful = is_text and not are_labels(frame, "correct", judged=True)  # "yes" may be the correct answer
    text = next((name for name in ("answer", *(["response"] if doubtful else [])) if name in schema), None)
    if text is None or not {"question", "correct"} <= set(schema):
        return
    correct = labels_of(pl.col("correct")) if is_text else pl.col("correct")
    rows = frame.select("question", text, correct).head(INSPECTED_ROWS).collect().drop_nulls()
    counts = rows.group_by("question").agg(pl.col(text, "correct").n_unique(), pl.col("correct").max().alias("any"))
    varied = counts.filter(pl.col(text) > 1, pl.col("any") == 1)
    if varied.height >= MIN_QUESTIONS and varied["correct"].max() == 1:
        as_label = argument("rename", {label: "correct"})
        label_fix = "write it as true and false" if label == "correct" else f"read it with {as_label}"
        raise ColumnError(
            f"{label!r} is the same for different {text}s of each question, so it cannot label a {text}: if it is "
            f"the correct answer, read it with {argument('rename', {label: 'gold'})}; if it labels {text}s, {label_fix}"
        )


def _columns(schema: pl.Schema) -> list[pl.Expr] | None:
    """Return the columns to check, under standard names or aliases; None if some are missing or ambiguous."""
    flat = [name for name, kind in schema.items() if not kind.is_nested()]
    answers = [name for name in flat if name == "answer" and (schema[name] == pl.String or schema[name].is_integer())]
    texts = [name for name in flat if schema[name] == pl.String]
    responses = ["response"] if "response" in texts else columns_named(texts, RESPONSES)
    questions = (
        ["question"] if "question" in flat else columns_named(flat, QUESTION_IDS) or columns_named(flat, QUESTION_TEXTS)
    )
    if not answers or len(responses) != 1 or len(questions) != 1:
        return None
    labels = [pl.col("correct")] if "correct" in flat else []
    return [
        pl.col(questions[0]).alias("question"),
        pl.col("answer").cast(pl.String),
        pl.col(responses[0]).alias("response"),
        *labels,
    ]
