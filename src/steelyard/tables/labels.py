"""Labels and golds: labels written as words, labels that contradict golds, and golds that are taken for answers."""

from __future__ import annotations

import warnings

import polars as pl

from steelyard.answers.golds import accepted
from steelyard.answers.reader import AnswerReader
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, LabelError, SteelyardWarning
from steelyard.tables.grades import folded
from steelyard.tables.names import QUESTION_IDS, QUESTION_TEXTS, RESPONSES, columns_named, key

JUDGED = {
    "correct": True, "incorrect": False, "right": True, "wrong": False, "pass": True, "fail": False,
    "passed": True, "failed": False, "not_attempted": False, "partial": False, "partially_correct": False,
    "partly_correct": False,
}  # fmt: skip
ANY = JUDGED | {
    "true": True, "false": False, "yes": True, "no": False, "y": True, "n": False, "t": True, "f": False,
    "c": True, "i": False, "p": False, "1": True, "0": False, "1.0": True, "0.0": False,
}  # fmt: skip
LABELLED_ROWS = 500
MIN_MATCHES = 10  # rows whose answer is the gold answer
REFUSED, SUSPICIOUS = 0.5, 0.1  # shares of these rows labelled incorrect: refused, or a warning
NO_RESPONSES = {
    "choices", "options", "steps", "messages", "tags", "stop", "tokens", "tools", "keywords", "categories", "subjects",
    "gold", "domain", "images", "hints", "references", "sources",
}  # fmt: skip
INSPECTED_ROWS = 5_000
OURS = {"sample", "tokens"}  # columns of a run, whose answers were read by Steelyard
MIN_ROWS = 10  # for refusing an answer that always equals the gold answer
MIN_QUESTIONS = 5  # with different answers and one label, for refusing the labels
ABSENT = 0.1  # share of responses that may not contain the answer read from them as written


def label_expression(schema: pl.Schema) -> pl.Expr | None:
    """Return `correct` as a boolean; None if the table has no such column."""
    if "correct" in schema:
        kind = schema["correct"]
        column = pl.col("correct")
        if kind == pl.String:
            return labels_of(column)
        if kind in (pl.Boolean, pl.Null):
            return column.cast(pl.Boolean)
        if kind.is_numeric():
            return pl.when(column == 1).then(True).when(column == 0).then(False)
        raise LabelError(f"the column 'correct' contains {kind}: write true and false")
    return None


def labels_of(column: pl.Expr) -> pl.Expr:
    """Convert words to true and false; null if a word is neither. Partly correct and not attempted are not correct.

    >>> table = pl.DataFrame({"correct": ["Correct", "incorrect ", "C", "no", "Not attempted", "maybe"]})
    >>> table.select(labels_of(pl.col("correct")))["correct"].to_list()
    [True, False, True, False, False, None]
    """
    return folded(column).replace_strict(ANY, default=None, return_dtype=pl.Boolean)


def are_labels(frame: pl.LazyFrame, name: str, *, judged: bool = False) -> bool:
    """Whether a text column contains only such words.

    With `judged`, only words that judge a response count, because "yes" and "true" may be answers.
    """
    words = folded(pl.col(name)).drop_nulls()
    accepted = list(JUDGED if judged else ANY)
    row = frame.select(words.is_in(accepted).all().alias("all"), words.len().alias("count")).collect(engine="streaming")
    return bool(row["all"][0]) and bool(row["count"][0])


def check_golds(rows: pl.DataFrame, reader: AnswerReader) -> None:
    """Refuse labels that contradict the golds: `rows` has question, gold, correct, and answer or response.

    Only rows whose answer is exactly the gold answer count. An answer that differs from the gold answer is no evidence:
    a judge may rightly accept other wordings.
    """
    read = _with_answers(rows.drop_nulls(), reader)
    golds = {gold: {text.strip() for text in accepted(gold, reader.kind)} for gold in set(read["gold"])}
    pairs = read.select("answer", "gold").iter_rows()
    same = [answer is not None and answer.strip() in golds[gold] for answer, gold in pairs]
    matching = read.filter(pl.Series(same, dtype=pl.Boolean))
    wrong = matching.filter(~pl.col("correct"))
    if matching.height < MIN_MATCHES or wrong.height < SUSPICIOUS * matching.height:
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
