"""Answers of a whole table -> keys that are equal exactly when the answers are the same; null = unreadable.

Each distinct text is normalised once and each open pair decided once, however large the table; what was not decided,
and what cost too much to read, is counted and told.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from steelyard.answers.extract import NOTHING, Extracted, check_kind, extract
from steelyard.answers.fingerprints import fingerprint
from steelyard.answers.grouping import looks_symbolic, representatives
from steelyard.answers.normal import normal_form, too_costly, was_read
from steelyard.answers.pairs import OpenPairs, open_pairs, to_value
from steelyard.errors import SteelyardWarning

if TYPE_CHECKING:
    from steelyard.answers.equivalence import EquivalenceChecker
    from steelyard.pools.arrays import Ints

EXACT = "exact"
KEPT = 1_000_000  # texts remembered from one part of a table to the next
_WHOLE = r"^(?:0|-?[1-9][0-9]{0,15})$"  # whole numbers are their own normal form


class AnswerReader:
    """Reads answers of one kind: math, number, choice, text, re:PATTERN, or exact (the text itself)."""

    def __init__(self, kind: str = "math") -> None:
        self.kind = kind if kind == EXACT else check_kind(kind)
        self.undecided = 0  # pairs that nobody could decide, or that were not asked about
        self.apart: set[str] = set()  # keys that stay apart from one they may equal
        self.asked = 0  # questions that the equivalence checker's workers were asked
        self.costly = 0  # distinct answers that cost more steps than their length allows
        self._forms: dict[str, str | None] = {}
        self._symbolic: dict[str, bool] = {}
        self._checker: EquivalenceChecker | None = None

    def extract(self, responses: pl.Series) -> list[Extracted]:
        """Read the final answer out of every response."""
        kind = "math" if self.kind == EXACT else self.kind
        return [NOTHING if text is None else extract(text, kind) for text in responses]

    def keys(self, texts: pl.Series, question: Ints, votes: Callable[[], Ints] | None = None) -> pl.Series:
        """Return the key of every answer; `question` says which belong together, `votes` how often each was given.

        The votes are only asked for where the equivalence checker is needed: its time goes to the answers with most.
        """
        rest = texts if self.kind == EXACT else texts.filter(~texts.str.contains(_WHOLE))
        distinct = rest.drop_nulls().unique()
        if not len(distinct):
            return texts
        if len(self._forms) + len(distinct) > KEPT:
            self._forms.clear()
            self._symbolic.clear()
        form = self._form()
        for text in distinct:
            if text not in self._forms:
                self._forms[text] = found = form(text) or None
                if form is normal_form and found is not None:
                    self.costly += too_costly(found)
                    self._is_symbolic(found)
        keys = texts.replace(distinct, pl.Series([self._forms[text] for text in distinct], dtype=pl.String))
        return self._merged(keys, question, votes) if form is normal_form else keys

    def warn(self) -> None:
        """Say what was not decided or not read for its cost; the answers stay apart."""
        if self.undecided:
            _warn(f"{self.undecided:,} pairs of answers could not be compared in time and count as different answers")
        if self.costly:
            _warn(f"{self.costly:,} answers are too costly to read for their length and are compared as written")

    def close(self) -> None:
        """Stop the worker processes, if any were needed."""
        if self._checker is not None:
            self._checker.close()
            self._checker = None

    def _form(self) -> Callable[[str], str]:
        forms: dict[str, Callable[[str], str]] = {
            EXACT: str.strip,
            "choice": lambda text: text.strip().strip("().").upper(),
            "text": lambda text: " ".join(text.casefold().split()),
        }
        return forms.get(self.kind, normal_form)

    def _is_symbolic(self, form: str) -> bool:
        """Whether only fingerprints and the equivalence checker can tell; it is started where it will be needed."""
        if form not in self._symbolic:
            self._symbolic[form] = looks_symbolic(form) and not was_read(form)
            if self._symbolic[form] and fingerprint(form) is None:
                self._started().start()
        return self._symbolic[form]

    def _started(self) -> EquivalenceChecker:
        from steelyard.answers.equivalence import EquivalenceChecker

        self._checker = self._checker or EquivalenceChecker()
        return self._checker

    def _merged(self, keys: pl.Series, question: Ints, votes: Callable[[], Ints] | None) -> pl.Series:
        """Merge what only the equivalence checker can tell to be the same."""
        odd = {key for key in keys.drop_nulls().unique() if self._is_symbolic(key)}
        if not odd:
            return keys
        rows = _rows_of(question, np.unique(question[keys.is_in(list(odd)).fill_null(False).to_numpy()]))
        weight = np.ones(len(keys), np.int64) if votes is None else votes()
        merged: list[str | None] = keys.to_list()
        counted: list[Counter[str]] = []
        for at in rows:
            count: Counter[str] = Counter()
            for row in at.tolist():
                if (key := merged[row]) is not None:
                    count[key] += int(weight[row])
            counted.append(count)
        for at, count, (found, verdicts) in zip(rows, counted, self._ask(odd, counted), strict=True):
            pairs = list(zip(found.asked, verdicts, strict=True))
            least = representatives(list(count), [pair for pair, same in pairs if same])
            late = [pair for pair, same in pairs if same is None]
            self.undecided += found.unasked + len(late)
            self.apart |= found.apart | {form for pair in late for form in pair if form in odd}
            for row in at.tolist():
                if (key := merged[row]) is not None:
                    merged[row] = least[key]
        return pl.Series(keys.name, merged, pl.String)

    def _ask(self, odd: set[str], counted: list[Counter[str]]) -> list[tuple[OpenPairs, list[bool | None]]]:
        """Find the open pairs of every question, then decide those of all questions together."""
        checker = self._started()
        asked = [(votes, [form for form in votes if form in odd]) for votes in counted]
        checker.values([form for votes, forms in asked for form in to_value(votes, forms)])
        found = [open_pairs(votes, forms, checker) for votes, forms in asked]
        every = list(dict.fromkeys(pair for each in found for pair in each.asked))
        verdict = dict(zip(every, checker.decide(every), strict=True))
        self.asked = len(checker.known)
        return [(each, [verdict[pair] for pair in each.asked]) for each in found]


def _rows_of(question: Ints, wanted: Ints) -> list[Ints]:
    """The rows of each wanted question, in one pass over all of them."""
    order = np.argsort(question, kind="stable")
    ordered = question[order]
    ends = zip(np.searchsorted(ordered, wanted, "left"), np.searchsorted(ordered, wanted, "right"), strict=True)
    return [order[start:end] for start, end in ends]


def _warn(text: str) -> None:
    warnings.warn(f"{text}; 'steelyard answers FILE' shows them", SteelyardWarning, stacklevel=3)
