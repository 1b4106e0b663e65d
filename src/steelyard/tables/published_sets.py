r"""Published question sets: MATH, MATH-500, GSM8K and MMLU-Pro, recognised by their columns or loaded from the hub.

| layout | columns | gold |
|---|---|---|
| math-500 | problem, answer, subject, unique_id | answer |
| math | problem, solution, type or subject | the last \boxed{..} of the solution |
| gsm8k | question, answer | what follows #### |
| mmlu-pro | question, options, answer, category | the letter |

A table with a column `prompt` is the user's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.answers.extract import extract
from steelyard.foundation.errors import LabelError, TableError
from steelyard.tables.sources.file_checks import first_line
from steelyard.tables.sources.table_files import FORMATS

# short name -> name on the hub, its configurations, its test split
KNOWN: dict[str, tuple[str, tuple[str | None, ...], str]] = {
    "gsm8k": ("openai/gsm8k", ("main",), "test"),
    "math-500": ("HuggingFaceH4/MATH-500", (None,), "test"),
    "mmlu-pro": ("TIGER-Lab/MMLU-Pro", (None,), "test"),
    "math": (
        "EleutherAI/hendrycks_math",
        ("algebra", "counting_and_probability", "geometry", "intermediate_algebra", "number_theory", "prealgebra",
         "precalculus"),
        "test",
    ),
}  # fmt: skip
LETTERS = "ABCDEFGHIJ"


def is_hub_name(name: str) -> bool:
    """Whether this is the name of a question set, such as math-500 or owner/name, and not a file.

    >>> is_hub_name("math-500"), is_hub_name("openai/gsm8k"), is_hub_name("questions.jsonl"), is_hub_name("a/b.csv")
    (True, True, False, False)
    """
    plain = name.partition(":")[0]
    if Path(name).exists() or Path(plain).suffix.lower() in FORMATS:
        return False
    return plain.lower() in KNOWN or (plain.count("/") == 1 and not plain.startswith((".", "/", "~")))


def from_hub(name: str) -> pl.DataFrame:
    """Load a question set by name with the `datasets` package; `name:split` selects another split than the test set."""
    plain, _, split = name.partition(":")
    by_hub = {entry[0].lower(): entry for entry in KNOWN.values()}
    hub_name, configurations, default_split = (
        KNOWN.get(plain.lower()) or by_hub.get(plain.lower()) or (plain, (None,), "test")
    )
    if find_spec("datasets") is None:
        raise TableError(
            f"{name} is not a file, and loading {hub_name} from the hub needs the package 'datasets': "
            "pip install datasets, or download its files and pass one of them"
        )
    import datasets

    tables: list[pl.DataFrame] = []
    for configuration in configurations:
        try:
            loaded: Any = datasets.load_dataset(hub_name, configuration, split=split or default_split)
        except Exception as error:  # noqa: BLE001 - any error of the hub, the network or the cache
            raise TableError(f"{name} cannot be loaded from the hub: {first_line(error)}; download its files") from None
        tables.append(loaded.to_polars())
    return pl.concat(tables, how="diagonal_relaxed")


@dataclass(frozen=True)
class Layout:
    """A published format: its name, its built-in prompt, and a function that converts it to the standard columns."""

    name: str
    prompt: str
    read: Callable[[pl.DataFrame], pl.DataFrame]


def layout_of(table: pl.DataFrame) -> Layout | None:
    """Return the published format of a table, None if it is not one of them."""
    columns = set(table.columns)
    if "prompt" in columns:
        return None
    if {"problem", "answer"} <= columns:
        return MATH_500
    if {"problem", "solution"} <= columns:
        return MATH
    if {"question", "options", "answer"} <= columns:
        return MMLU_PRO
    if {"question", "answer"} <= columns and table["answer"].dtype == pl.String:
        first = table["answer"].drop_nulls().head(20)
        return GSM8K if first.str.contains("####", literal=True).any() else None
    return None


def _ids(table: pl.DataFrame, name: str, prefix: str) -> pl.Series:
    """Return the published ids, or row numbers if they are missing or not unique."""
    if name in table.columns and table[name].n_unique() == table.height and not table[name].null_count():
        return table[name].cast(pl.String)
    return pl.Series([f"{prefix}-{i:05d}" for i in range(table.height)])


def _domain(table: pl.DataFrame, *names: str) -> pl.Series | None:
    return next((table[name].cast(pl.String) for name in names if name in table.columns), None)


def _columns(ids: pl.Series, prompt: Any, gold: Any, domain: pl.Series | None) -> pl.DataFrame:
    columns = {"question": ids, "prompt": prompt, "gold": gold}
    return pl.DataFrame(columns if domain is None else columns | {"domain": domain})


def _math_500(table: pl.DataFrame) -> pl.DataFrame:
    ids = _ids(table, "unique_id", "math")
    return _columns(ids, table["problem"], table["answer"], _domain(table, "subject", "type"))


def _math(table: pl.DataFrame) -> pl.DataFrame:
    gold = []
    for i, solution in enumerate(table["solution"]):
        extracted = extract(solution or "", "math")
        if extracted.rule != "boxed":
            raise LabelError(f"row {i + 1} has no \\boxed answer in its solution: correct it, or remove the row")
        gold.append(extracted.answer)
    return _columns(_ids(table, "unique_id", "math"), table["problem"], gold, _domain(table, "type", "subject"))


def _gsm8k(table: pl.DataFrame) -> pl.DataFrame:
    gold = []
    for i, answer in enumerate(table["answer"]):
        _, mark, final = (answer or "").rpartition("####")
        if not mark or not final.strip():
            raise LabelError(f"row {i + 1} has no answer after ####: correct it, or remove the row")
        gold.append(final.strip().replace(",", ""))
    return _columns(_ids(table, "id", "gsm8k"), table["question"], gold, None)


def _mmlu_pro(table: pl.DataFrame) -> pl.DataFrame:
    prompts, gold = [], []
    rows = table.select("question", "options", "answer").iter_rows()
    for i, (question, options, answer) in enumerate(rows):
        choices = [str(option) for option in options or []]
        while choices and choices[-1] == "N/A":  # early versions are padded to ten options
            choices.pop()
        letters = LETTERS[: len(choices)]
        letter = str(answer).strip().upper()
        if not 1 < len(choices) <= len(LETTERS) or letter not in letters or len(letter) != 1:
            raise LabelError(
                f"row {i + 1} has {len(choices)} options and the answer {answer!r:.20}: expected one of their letters"
            )
        listed = "\n".join(f"{letter}. {option}" for letter, option in zip(letters, choices, strict=True))
        prompts.append(f"{question}\n\nOptions:\n{listed}")
        gold.append(letter)
    return _columns(_ids(table, "question_id", "mmlu-pro"), prompts, gold, _domain(table, "category"))


MATH_500 = Layout("math-500", "math", _math_500)
MATH = Layout("math", "math", _math)
GSM8K = Layout("gsm8k", "math", _gsm8k)
MMLU_PRO = Layout("mmlu-pro", "choice", _mmlu_pro)
