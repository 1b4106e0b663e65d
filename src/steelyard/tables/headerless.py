"""Tables whose first row was taken for the names of their columns."""

from __future__ import annotations

import re
from collections.abc import Iterable

from steelyard.foundation.errors import ColumnError
from steelyard.tables.names import LABELS, SCORE_LIKE, is_text, key

NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE)
SENTENCE = 4  # words: no name of a column has more
SHOWN, LONGEST = 4, 30  # values in the message, and letters of each


def check_names(names: Iterable[str]) -> None:
    """Refuse names of columns that are values: numbers or sentences, and none that is known."""
    values = [str(name).strip() for name in names]
    words = [key(value) for value in values if len(value.split()) <= SENTENCE]
    if any(is_text(word) or word in LABELS or SCORE_LIKE.search(word) for word in words):
        return
    if values == [str(i) for i in range(len(values))]:
        return  # pandas numbers columns without a name
    if any(NUMBER.fullmatch(value) or len(value.split()) > SENTENCE for value in values):
        more = ", .." if len(values) > SHOWN else ""
        shown = ", ".join(value[:LONGEST] for value in values[:SHOWN])
        raise ColumnError(
            f"its first line holds values ({shown}{more}), not the names of columns: put a line with the names before "
            "it, such as question,answer,score"
        )
