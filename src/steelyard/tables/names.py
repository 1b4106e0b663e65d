"""The names that others give to our columns, and which of several columns is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError

QUESTION_IDS = {"question_id", "qid", "problem_id", "prompt_id", "unique_id", "task_id", "example_id", "doc_id"}
ROW_IDS = {"id", "idx", "index", "uid", "uuid"}  # of a question, or of a row
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
LLMS = ("llm", "model", "llm_name", "model_name", "llm_id", "model_id")  # who answered; the first that is there
LATE_GOLDS = {"solution", "label"}  # taken when nothing else says what is correct; a label only as text
LABELS = {"is_correct", "label", "acc", "exact_match", "correctness", "passed", "success", "answer_correct"}
SCORES = {"reward", "prm", "rm", "verifier", "logprob", "confidence", "probability", "score", "judge", "rating"}
NO_SCORES = re.compile(
    r"(^|_)(temperature|temp|top_?p|top_?k|latency|seconds|secs?|ms|duration|elapsed|time|timestamp|cost|price|usd|loss|nll"
    r"|error|perplexity|ppl|entropy|distance|rank|seed|length|len|year|level|difficulty)(_|$)"
)  # numbers that are no scores, or of which less is better
INVERTED = re.compile(
    r"(^|_)(error|err|risk|loss|uncertainty|perplexity|ppl|nll|entropy|wrong|incorrect|failure|fail|hallucination)(_|$)"
)  # scores of which less is better
SCORE_LIKE = re.compile(
    r"score|reward|prm|(?<![a-z])orm(?![a-z])|logprob|verdict|prob(?!lem)|confidence|verifier|judge|(?<![a-z])rating"
)


def key(name: str) -> str:
    """A name without what people write in different ways.

    >>> key(" Question-ID"), key("is correct")
    ('question_id', 'is_correct')
    """
    return re.sub(r"[\s\-.]+", "_", name.strip().lower())


def is_text(known: str) -> bool:
    """Whether a column of this name (as `key` writes it) holds text, also where all of it looks like numbers.

    >>> is_text("question_id"), is_text("answer_2"), is_text("score")
    (True, True, False)
    """
    return re.sub(r"_?\d+$", "", known) in TEXTS


def named(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Those of some names that stand in a list of known ones."""
    wanted = set(known)
    return [name for name in names if key(name) in wanted]


def plurals(known: set[str]) -> set[str]:
    """The same names for lists: completion, completions."""
    return known | {f"{name}s" for name in known}


def only(found: list[str], ours: str) -> str | None:
    """The one column that can be meant; several are refused with what chooses one."""
    if len(found) > 1:
        raise ColumnError(
            f"several columns could be {ours!r}: {', '.join(found)}; choose one with "
            f"{argument('rename', {found[0]: ours})}"
        )
    return found[0] if found else None


def first_of(names: Iterable[str], tiers: Iterable[set[str]], ours: str) -> str | None:
    """The column of the first group of names that has any."""
    present = list(names)
    return next((only(found, ours) for tier in tiers if (found := named(present, tier))), None)


def accepted_lists(schema: pl.Schema) -> list[str]:
    """The columns that hold a list of accepted answers."""
    known = plurals(GOLDS | {"gold"}) | {"accepted_answers"}
    return [name for name in named(schema, known) if schema[name] == pl.List(pl.String)]


def is_label(kind: pl.DataType) -> bool:
    """Whether a column may hold true and false, or 1 and 0."""
    return kind == pl.Boolean or kind.is_numeric()
