"""Question sets from the Hugging Face hub, loaded with the `datasets` package if it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.tables.sources.damage import first_line
from steelyard.tables.sources.table_files import FORMATS

# short name -> name on the hub, its configurations, its test split
KNOWN: dict[str, tuple[str, tuple[str | None, ...], str]] = {
    "gsm8k": ("openai/gsm8k", ("main",), "test"),
    "math-500": ("HuggingFaceH4/MATH-500", (None,), "test"),
    "mmlu-pro": ("TIGER-Lab/MMLU-Pro", (None,), "test"),
    "math": (
        "EleutherAI/hendrycks_math",
        (
            "algebra",
            "counting_and_probability",
            "geometry",
            "intermediate_algebra",
            "number_theory",
            "prealgebra",
            "precalculus",
        ),
        "test",
    ),
}


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
    """Load a question set by name; `name:split` selects another split than the test set."""
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
