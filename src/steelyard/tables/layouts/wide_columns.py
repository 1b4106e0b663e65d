"""One row per question, with numbered columns: answer_1, answer_2, .., score_1, score_2, .."""

from __future__ import annotations

import re

import polars as pl

from steelyard.foundation.errors import ColumnError
from steelyard.tables.names import ANSWERS, LABELS, RESPONSES, SCORE_LIKE, key, plurals
from steelyard.tables.parallel_lists import long_from_lists
from steelyard.tables.recognition import Converted, Layout, Opened

NUMBERED = re.compile(r"(?P<base>.*?\D)[_ .\-]?(?P<number>\d{1,4})")
TEXTS = plurals(RESPONSES | ANSWERS | {"sample"})
LABELLED = plurals(LABELS | {"correct"})

Families = dict[str, dict[int, str]]  # base: number: column


class WideColumns(Layout):
    name = "wide-columns"
    title = "numbered columns"
    description = "any table: one row per question, answer_1, answer_2, .. or response_1, .. beside score_1, .."
    turn = 2

    def recognises(self, opened: Opened) -> bool:
        return any(key(base) in TEXTS for base in _families(opened.frame().collect_schema()))

    def read(self, opened: Opened) -> Converted:
        frame = opened.frame()
        families = _families(frame.collect_schema())
        texts = [base for base in families if key(base) in TEXTS]
        if not texts:
            raise ColumnError(
                "there are no columns answer_1, answer_2, .. or response_1, response_2, ..: rename your columns"
            )
        numbers = sorted(families[texts[0]])
        for base, members in families.items():
            if sorted(members) != numbers:
                theirs, ours = _number_range(sorted(members)), _number_range(numbers)
                raise ColumnError(f"{base!r} is numbered {theirs} and {texts[0]!r} {ours}: use the same numbers")
        lists = {f"{base}s": [pl.col(members[i]) for i in numbers] for base, members in families.items()}
        others = pl.exclude([name for members in families.values() for name in members.values()])
        melted = frame.select(others, *(pl.concat_list(columns).alias(name) for name, columns in lists.items()))
        return long_from_lists(melted, sparse=True)


def _families(schema: pl.Schema) -> Families:
    """Return numbered columns with one value per row whose names are those of texts, scores or labels."""
    families: Families = {}
    for name, kind in schema.items():
        split = NUMBERED.fullmatch(name)
        base = split["base"].rstrip("_ .-") if split else ""
        is_known = key(base) in TEXTS | LABELLED or SCORE_LIKE.search(key(base))
        if split and is_known and not kind.is_nested():
            families.setdefault(base, {})[int(split["number"])] = name
    return {base: members for base, members in families.items() if len(members) > 1}


def _number_range(numbers: list[int]) -> str:
    return f"{numbers[0]} to {numbers[-1]} ({len(numbers)} columns)"
