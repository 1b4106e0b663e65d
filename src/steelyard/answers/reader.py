"""Answers of a whole table -> keys that are equal exactly when the answers are the same; null = unreadable.

Each distinct text is normalised once and each undecided pair judged once, however large the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from steelyard.answers.extract import NOTHING, Extracted, check_kind, extract
from steelyard.answers.grouping import looks_symbolic, open_pairs, representatives
from steelyard.answers.normal import normal_form, was_read

if TYPE_CHECKING:
    from steelyard.answers.judge import Judge, Pair
    from steelyard.arrays import Ints

EXACT = "exact"
_WHOLE = r"^(?:0|-?[1-9][0-9]{0,15})$"  # whole numbers are their own normal form


class AnswerReader:
    """Reads answers of one kind: math, number, choice, text, re:PATTERN, or exact (the text itself)."""

    def __init__(self, kind: str = "math") -> None:
        self.kind = kind if kind == EXACT else check_kind(kind)
        self.unknown: set[Pair] = set()
        self._forms: dict[str, str | None] = {}
        self._symbolic: dict[str, bool] = {}
        self._judge: Judge | None = None

    def extract(self, responses: pl.Series) -> list[Extracted]:
        """Read the final answer out of every response."""
        kind = "math" if self.kind == EXACT else self.kind
        return [NOTHING if text is None else extract(text, kind) for text in responses]

    def keys(self, texts: pl.Series, question: Ints) -> pl.Series:
        """Return the key of every answer; `question` says which belong together [len(texts)]."""
        rest = texts if self.kind == EXACT else texts.filter(~texts.str.contains(_WHOLE))
        if not len(rest):
            return texts
        form = self._form()
        new = [text for text in rest.drop_nulls().unique() if text not in self._forms]
        self._forms.update((text, form(text) or None) for text in new)
        used = {text: self._forms[text] for text in rest.drop_nulls().unique()}
        keys = texts.replace(list(used), list(used.values())) if used else texts
        return self._judged(keys, question) if self.kind not in (EXACT, "choice", "text") else keys

    def close(self) -> None:
        """Stop the worker processes, if any were needed."""
        if self._judge is not None:
            self._judge.close()
            self._judge = None

    def _form(self) -> Callable[[str], str]:
        forms: dict[str, Callable[[str], str]] = {
            EXACT: str.strip,
            "choice": lambda text: text.strip().strip("().").upper(),
            "text": lambda text: " ".join(text.casefold().split()),
        }
        return forms.get(self.kind, normal_form)

    def _judged(self, keys: pl.Series, question: Ints) -> pl.Series:
        """Merge what only the judge can tell to be the same."""
        for key in keys.drop_nulls().unique():
            if key not in self._symbolic:
                self._symbolic[key] = not was_read(key) and looks_symbolic(key)
        odd = [key for key in keys.drop_nulls().unique() if self._symbolic[key]]
        if not odd:
            return keys
        asked = np.unique(question[keys.is_in(odd).fill_null(False).to_numpy()])
        rows = {int(q): np.flatnonzero(question == q) for q in asked}
        forms = {q: [key for key in keys.gather(at).to_list() if key is not None] for q, at in rows.items()}
        merged = keys.to_list()
        for q, verdicts in self._ask(odd, forms).items():
            least = representatives(forms[q], [pair for pair, same in verdicts if same])
            self.unknown.update(pair for pair, same in verdicts if same is None)
            for row in rows[q]:
                merged[row] = least.get(merged[row], merged[row])
        return pl.Series(keys.name, merged, pl.String)

    def _ask(self, odd: list[str], forms: dict[int, list[str]]) -> dict[int, list[tuple[Pair, bool | None]]]:
        """Value every odd form once, then decide the pairs that may be equal, of all questions together."""
        from steelyard.answers.judge import Judge

        self._judge = judge = self._judge or Judge()
        judge.values(odd)
        pairs = {q: open_pairs(group, judge) for q, group in forms.items()}
        every = [pair for asked, _ in pairs.values() for pair in asked]
        verdict = dict(zip(every, judge.decide(every), strict=True))
        return {
            q: [(pair, verdict[pair]) for pair in asked] + [(pair, None) for pair in unknown]
            for q, (asked, unknown) in pairs.items()
        }
