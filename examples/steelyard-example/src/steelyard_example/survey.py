"""Survey: JSON lines with what was asked, what was heard (a list of responses) and the truth where it is known."""

from __future__ import annotations

from typing import Any

import polars as pl

from steelyard.foundation.errors import TableError
from steelyard.tables.recognition import Converted, Layout, Opened


class Survey(Layout):
    """Each thing that was heard is a response."""

    name = "survey"  # what the user types, and the name of the entry point
    title = "survey"
    description = "steelyard-example, JSON lines: asked, heard (one response each), truth as gold"

    def recognises(self, opened: Opened) -> bool:
        """Whether the first line is one of a survey."""
        return {"asked", "heard"} <= opened.first.keys()

    def read(self, opened: Opened) -> Converted:
        """One row per response; a line that is none is refused with the fix."""
        rows: list[dict[str, Any]] = []
        questions = 0
        for number, record in enumerate(opened.records(), 1):
            heard = record.get("heard")
            if not isinstance(heard, list) or not all(isinstance(text, str) for text in heard):
                raise TableError(f"line {number} has no list of texts in 'heard': correct or remove it")
            once = {"question": str(record.get("asked")), "gold": record.get("truth")}
            rows += [{**once, "sample": i, "response": text} for i, text in enumerate(heard)]
            questions += 1
        return Converted(pl.DataFrame(rows).lazy(), f"{questions} questions, {len(rows)} responses")
