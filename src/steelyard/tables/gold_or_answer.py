"""Tables in which `answer` could be the correct answer: read as what the responses say, it would vote alone."""

from __future__ import annotations

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError
from steelyard.tables.label_words import are_labels, labels_of
from steelyard.tables.names import QUESTION_IDS, QUESTION_TEXTS, RESPONSES, key, named

NO_RESPONSES = {
    "choices", "options", "steps", "messages", "tags", "stop", "tokens", "tools", "keywords", "categories", "subjects",
    "gold", "domain", "images", "hints", "references", "sources",
}  # fmt: skip
LOOKED_AT = 5_000  # rows
OURS = {"sample", "tokens"}  # beside the answers that a run has read itself
FEWEST_ROWS = 10  # before an answer is doubted that is the gold answer everywhere
FEWEST = 5  # questions with different answers and one label before it is doubted
ABSENT = 0.1  # share of the responses in which an answer that was read out of them may not be found as written


def check_unknown_lists(schema: pl.Schema) -> None:
    """Refuse an `answer` beside a list of texts that nobody knows: it would be the gold answer, voting alone."""
    texts = [name for name, kind in schema.items() if not kind.is_nested()]
    if "answer" not in texts or any(key(name) in RESPONSES - {"text", "output"} for name in texts):
        return
    lists = [name for name, kind in schema.items() if kind == pl.List(pl.String) and key(name) not in NO_RESPONSES]
    if lists:
        raise ColumnError(
            f"{lists[0]!r} holds a list of texts beside 'answer': if these are the responses, read the table with "
            f"{argument('rename', {lists[0]: 'response'})}; if they are not, with {argument('layout', 'long')}"
        )


def check_gold_alone(frame: pl.LazyFrame) -> None:
    """Refuse a table in which all responses of each question have the same `answer`, and many do not say it."""
    schema = frame.collect_schema()
    found = _meant(schema)
    if found is None or "gold" in schema or set(schema) >= OURS:
        return
    rows = frame.select(found).head(LOOKED_AT).collect().drop_nulls()
    counts = rows.group_by("question").agg(pl.exclude("question").n_unique())
    if counts["answer"].max() != 1 or (counts["response"].max() or 0) < 2:  # type: ignore[operator]
        return
    if "correct" in counts.columns and counts["correct"].max() == 1:  # what an answer is labelled is what it says
        return
    said = rows.select(pl.col("response").str.contains(pl.col("answer").str.strip_chars(), literal=True).mean()).item()
    if 1 - said > ABSENT:
        raise ColumnError(
            "'answer' is the same for all responses of each question, and many of them do not say it: if it is the "
            f"correct answer, read it with {argument('rename', {'answer': 'gold'})}; if it is what they answer, with "
            f"{argument('layout', 'long')}"
        )


def check_answer_is_gold(frame: pl.LazyFrame) -> None:
    """Refuse an `answer` that is the gold answer in every row, where many responses do not say it."""
    schema = frame.collect_schema()
    if not {"answer", "gold"} <= set(schema) or schema.get("response") != pl.String:
        return
    if any(schema[name].is_nested() for name in ("answer", "gold")):
        return
    texts = frame.select(pl.col("answer", "gold").cast(pl.String).str.strip_chars(), "response")
    rows = texts.head(LOOKED_AT).collect().drop_nulls()
    if rows.height < FEWEST_ROWS or not (rows["answer"] == rows["gold"]).all():
        return
    if 1 - rows.select(pl.col("response").str.contains(pl.col("answer"), literal=True).mean()).item() > ABSENT:
        raise ColumnError(
            "'answer' is the gold answer in every row, and many responses do not say it: read the answers out of the "
            f"responses with {argument('rename', {'answer': 'reference'})}"
        )


def check_label_of_questions(frame: pl.LazyFrame, label: str) -> None:
    """Refuse a column, taken for labels by its name, that calls all answers of a question the same: it is its class."""
    schema = frame.collect_schema()
    words = schema.get("correct") == pl.String
    doubtful = words and not are_labels(frame, "correct", judged=True)  # "yes" may be the correct answer
    text = next((name for name in ("answer", *(["response"] if doubtful else [])) if name in schema), None)
    if text is None or not {"question", "correct"} <= set(schema):
        return
    correct = labels_of(pl.col("correct")) if words else pl.col("correct")
    rows = frame.select("question", text, correct).head(LOOKED_AT).collect().drop_nulls()
    counts = rows.group_by("question").agg(pl.col(text, "correct").n_unique(), pl.col("correct").max().alias("any"))
    told = counts.filter(pl.col(text) > 1, pl.col("any") == 1)
    if told.height >= FEWEST and told["correct"].max() == 1:
        as_label = argument("rename", {label: "correct"})
        label_fix = "write it as true and false" if label == "correct" else f"read it with {as_label}"
        raise ColumnError(
            f"{label!r} is the same for different {text}s of each question, so it says nothing of one {text}: if it is "
            f"the correct answer, read it with {argument('rename', {label: 'gold'})}; if it labels {text}s, {label_fix}"
        )


def _meant(schema: pl.Schema) -> list[pl.Expr] | None:
    """The columns to look at, by their own names or by others; None if some are missing, or could be several."""
    flat = [name for name, kind in schema.items() if not kind.is_nested()]
    answers = [name for name in flat if name == "answer" and (schema[name] == pl.String or schema[name].is_integer())]
    texts = [name for name in flat if schema[name] == pl.String]
    responses = ["response"] if "response" in texts else named(texts, RESPONSES)
    questions = ["question"] if "question" in flat else named(flat, QUESTION_IDS) or named(flat, QUESTION_TEXTS)
    if not answers or len(responses) != 1 or len(questions) != 1:
        return None
    labels = [pl.col("correct")] if "correct" in flat else []
    return [
        pl.col(questions[0]).alias("question"),
        pl.col("answer").cast(pl.String),
        pl.col(responses[0]).alias("response"),
        *labels,
    ]
