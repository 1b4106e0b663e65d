"""Tables without a header, whose first row was read as column names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from steelyard.foundation.errors import ColumnError
from steelyard.tables.names import LABELS, SCORE_LIKE, is_text, key

NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)
SENTENCE = 4  # words: no column name has more
SHOWN, LONGEST = 4, 30  # values in the message, and characters of each


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
