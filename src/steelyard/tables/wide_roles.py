"""The roles of columns in a table with one row per question: parallel lists, and values per question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError
from steelyard.tables import names
from steelyard.tables.cell_values import is_chat
from steelyard.tables.names import accepted_lists, columns_named, first_of, key, only, plurals
from steelyard.tables.several_files import FILE

RESPONSE_LISTS = plurals(names.RESPONSES | {"sample", "candidate", "rollout"}) - {"prediction", "predictions"}
ANSWER_LISTS = plurals(names.ANSWERS | {"prediction"})
LABEL_LISTS = plurals(names.LABELS) | {"correct"}
RESPONSE_NAMES = ("response", "completion", "generation", "llm_response", "output", "prediction")


@dataclass(frozen=True)
class Wide:
    """Columns of a table with one row per question, by role."""

    texts: dict[str, str]  # response or answer: its list column
    labels: str | None
    scores: tuple[str, ...]  # lists that must be as long as the texts
    others: tuple[str, ...]  # lists that are kept if they are as long
    once: dict[str, str]  # question, gold, prompt, ..: its column, with one value per question

    @property
    def main(self) -> str:
        """The list that determines the number of responses."""
        return next(iter(self.texts.values()))

    @property
    def needed(self) -> list[str]:
        return [*self.texts.values(), *([self.labels] if self.labels else []), *self.scores]


def text_lists(schema: pl.Schema) -> list[str]:
    """Return the columns with lists of responses or answers, by name and type."""
    candidates = {name: kind for name, kind in schema.items() if key(name) in RESPONSE_LISTS | ANSWER_LISTS}
    return [name for name, kind in candidates.items() if _is_texts(kind, numbers=key(name) in ANSWER_LISTS)]


def check_not_both(schema: pl.Schema, lists: Sequence[str]) -> None:
    """Refuse a table with both a list of responses, in one of these columns, and a single response per row."""
    texts = [name for name, kind in schema.items() if kind == pl.String and name not in lists]
    single = [name for name in texts if key(name) in RESPONSE_NAMES]
    if single and lists:
        raise ColumnError(
            f"{lists[0]!r} contains a list per row and {single[0]!r} one text, so a row may be a question or a "
            f"response: read the lists with {argument('layout', 'wide')}, or one response per row with "
            f"{argument('layout', 'long')}"
        )


def wide_roles(schema: pl.Schema) -> Wide:
    """Determine the role of each column; ambiguous ones are refused."""
    texts = _texts(schema)
    text_columns = set(texts.values())
    lists = [name for name, kind in schema.items() if isinstance(kind, pl.List) and name not in text_columns]
    numbers = [name for name in lists if _is_numbers(schema[name])]
    flat = [name for name in numbers if not isinstance(schema[name].inner, pl.List)]  # type: ignore[attr-defined]
    labels = only(columns_named(flat, LABEL_LISTS), "correct")
    rest = [name for name in numbers if name != labels]
    scores = tuple(name for name in rest if names.SCORE_LIKE.search(key(name)))
    others = tuple(name for name in lists if name not in scores and name != labels)
    return Wide(texts, labels, scores, others, _once(schema))


def _texts(schema: pl.Schema) -> dict[str, str]:
    lists = text_lists(schema)
    responses = only(columns_named(lists, RESPONSE_LISTS), "response")
    answers = only(columns_named(lists, ANSWER_LISTS), "answer")
    columns = {"response": responses, "answer": answers}
    return {ours: name for ours, name in columns.items() if name}


def _once(schema: pl.Schema) -> dict[str, str]:
    """Return the columns with one value per question: its id, its text, the gold answer, the LLM."""
    flat = [name for name, kind in schema.items() if not kind.is_nested()]
    texts = [name for name in columns_named(flat, names.QUESTION_TEXTS) if schema[name] == pl.String]
    question = "question" if "question" in flat else first_of(flat, (names.QUESTION_IDS, names.ROW_IDS), "question")
    once = {"question": question or only(texts, "question"), "gold": _gold(schema, flat)}
    once["prompt"] = "prompt" if "prompt" in flat else next(iter(texts), None)
    once["llm"] = next(iter(columns_named(flat, {"llm", "model"})), None)
    once["domain"] = next(iter(columns_named(flat, {"domain"})), None)
    once[FILE] = FILE if FILE in flat else None
    return {ours: name for ours, name in once.items() if name}


def _gold(schema: pl.Schema, flat: list[str]) -> str | None:
    """Return the gold column: `gold`, else its only alias; an `answer` next to a list is the gold.

    A list of texts with such a name contains the accepted answers.
    """
    if "gold" in flat:
        return "gold"
    lists = accepted_lists(schema)
    if "gold" in lists:
        return "gold"
    late = [name for name in flat if schema[name] == pl.String]
    gold = first_of(flat, (names.GOLDS | {"answer"},), "gold") or only(columns_named(late, names.LATE_GOLDS), "gold")
    return gold or only(lists, "gold")


def _is_texts(kind: Any, *, numbers: bool) -> bool:
    """Whether a column contains lists of texts, structs or chats (one chat is one text); answers may be numbers."""
    if not isinstance(kind, pl.List) or is_chat(kind):
        return False
    inner: Any = kind.inner
    return inner == pl.String or (numbers and inner.is_numeric()) or isinstance(inner, pl.Struct) or is_chat(inner)


def _is_numbers(kind: Any) -> bool:
    while isinstance(kind, pl.List):
        kind = kind.inner
    return bool(kind.is_numeric()) or kind in (pl.Boolean, pl.Null)
