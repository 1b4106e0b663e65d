"""Known aliases of the standard column names, and the choice between several columns."""

from __future__ import annotations

import re
from collections.abc import Iterable

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError

QUESTION_IDS = {"question_id", "qid", "problem_id", "prompt_id", "unique_id", "task_id", "example_id", "doc_id"}
ROW_IDS = {"id", "idx", "index", "uid", "uuid"}  # ids of questions or of rows
QUESTION_TEXTS = {"problem", "prompt", "instruction", "query", "input", "question_text"}
RESPONSES = {
    "response", "completion", "generation", "output", "text", "prediction", "llm_response", "model_response",
    "model_output", "generated_text", "response_text", "completion_text", "raw_output", "reply",
}  # fmt: skip
ANSWERS = {
    "answer", "pred", "extracted_answer", "final_answer", "parsed_answer", "predicted_answer", "model_answer",
    "extracted",
}  # fmt: skip
GOLDS = {
    "target", "ground_truth", "reference", "gold_answer", "reference_answer", "correct_answer", "expected_answer",
    "expected", "golden_answer", "answer_key", "gold_standard_solution",
}  # fmt: skip
TEXTS = {"question", "answer", "gold"} | QUESTION_IDS | ROW_IDS | QUESTION_TEXTS | RESPONSES | ANSWERS | GOLDS
LLMS = ("llm", "model", "llm_name", "model_name", "llm_id", "model_id")  # the first that exists
LATE_GOLDS = {"solution", "label"}  # used if there are no other labels or golds; a label only as text
LABELS = {"is_correct", "label", "acc", "exact_match", "correctness", "passed", "success", "answer_correct"}
SCORES = {"reward", "prm", "rm", "verifier", "logprob", "confidence", "probability", "score", "judge", "rating"}
NO_SCORES = re.compile(
    r"(^|_)(temperature|temp|top_?p|top_?k|latency|seconds|secs?|ms|duration|elapsed|time|timestamp|cost|price|usd|loss|nll"
    r"|error|perplexity|ppl|entropy|distance|rank|seed|length|len|year|level|difficulty)(_|$)"
)  # numbers that are not scores, or for which lower is better
INVERTED = re.compile(
    r"(^|_)(error|err|risk|loss|uncertainty|perplexity|ppl|nll|entropy|wrong|incorrect|failure|fail|hallucination)(_|$)"
)  # scores for which lower is better
SCORE_LIKE = re.compile(
    r"score|reward|prm|(?<![a-z])orm(?![a-z])|logprob|verdict|prob(?!lem)|confidence|verifier|judge|(?<![a-z])rating"
)
EMBEDDINGS = re.compile(r"(^|_)embeddings?(_|$)")  # lists of numbers that are not step scores
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)
SENTENCE = 4  # words: no column name has more
SHOWN, LONGEST = 4, 30  # values in the message, and characters of each


def key(name: str) -> str:
    """Normalise the case and separators of a name.

    >>> key(" Question-ID"), key("is correct")
    ('question_id', 'is_correct')
    """
    return re.sub(r"[\s\-.]+", "_", name.strip().lower())


def is_text(name: str) -> bool:
    """Whether a column of this name (normalised by `key`) contains text, even if it looks like numbers.

    >>> is_text("question_id"), is_text("answer_2"), is_text("score")
    (True, True, False)
    """
    return re.sub(r"_?\d+$", "", name) in TEXTS


def columns_named(names: Iterable[str], aliases: Iterable[str]) -> list[str]:
    """Return the names that are among the aliases."""
    keys = set(aliases)
    return [name for name in names if key(name) in keys]


def plurals(aliases: set[str]) -> set[str]:
    """Return names with their plurals: completion, completions."""
    return aliases | {f"{name}s" for name in aliases}


def only(matches: list[str], ours: str) -> str | None:
    """Return the only match, None if there is none; several are refused with how to choose one."""
    if len(matches) > 1:
        raise ColumnError(
            f"several columns could be {ours!r}: {', '.join(matches)}; choose one with "
            f"{argument('rename', {matches[0]: ours})}"
        )
    return matches[0] if matches else None


def first_of(names: Iterable[str], tiers: Iterable[set[str]], ours: str) -> str | None:
    """Return the column that matches the first group of aliases with a match."""
    present = list(names)
    return next((only(matches, ours) for tier in tiers if (matches := columns_named(present, tier))), None)


def accepted_lists(schema: pl.Schema) -> list[str]:
    """Return the columns that contain lists of accepted answers."""
    aliases = plurals(GOLDS | {"gold"}) | {"accepted_answers"}
    return [name for name in columns_named(schema, aliases) if schema[name] == pl.List(pl.String)]


def is_label(kind: pl.DataType) -> bool:
    """Whether a column may contain true and false, or 1 and 0."""
    return kind == pl.Boolean or kind.is_numeric()


def check_names(names: Iterable[str]) -> None:
    """Refuse column names that are values: numbers or sentences, with no known name among them."""
    values = [str(name).strip() for name in names]
    keys = [key(value) for value in values if len(value.split()) <= SENTENCE]
    if any(is_text(name) or name in LABELS or SCORE_LIKE.search(name) for name in keys):
        return
    if values == [str(i) for i in range(len(values))]:
        return  # pandas numbers unnamed columns
    if any(NUMBER.fullmatch(value) or len(value.split()) > SENTENCE for value in values):
        more = ", .." if len(values) > SHOWN else ""
        shown = ", ".join(value[:LONGEST] for value in values[:SHOWN])
        raise ColumnError(
            f"its first line contains values ({shown}{more}), not column names: add a header before "
            "it, such as question,answer,score"
        )
