"""The ballots of the test questions as compact data for the page: who voted for what, with which weight and words.

A page has a size: the ballot shown first is always there; then come questions whose verdict differs from
majority's, then those that are wrong although a correct answer was given, then the rest; texts are stored once each
while they fit, and what is left out is counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from steelyard.evaluation.reports.ballot_shares import entries, kind_of
from steelyard.evaluation.reports.example import first_shown
from steelyard.evaluation.reports.summary import Case
from steelyard.voting.pools.arrays import Bools, Ints

LONGEST = 4000  # characters of one text
NAMED = 200  # characters of one answer or question id
AT_ONCE = 200  # questions weighed together
NUMBERS = 0.5  # share of the budget that scores and weights may take, before texts
CHANGED, MISSED, CORRECT, MAJORITY_CORRECT = 1, 2, 4, 8


@dataclass
class _Texts:
    """Every text once, while the budget lasts."""

    left: int
    texts: list[str] = field(default_factory=list)
    place: dict[str, int] = field(default_factory=dict)
    dropped: int = 0

    def keep(self, text: str | None) -> int:
        if text is None:
            return -1
        if text not in self.place:
            short = clipped(text, LONGEST)
            size = len(encoded(short)) + 1
            if size > self.left:
                self.dropped += 1
                return -1
            self.left -= size
            self.place[text] = len(self.texts)
            self.texts.append(short)
        return self.place[text]


def clipped(text: str, most: int) -> str:
    """Cut a text that is too long, visibly."""
    return text if len(text) <= most else text[: most - 1] + "…"


def encoded(value: Any) -> str:
    """JSON that is safe inside a script element: no tag, comment or line separator can begin in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def flags(case: Case) -> Ints:
    """What the filters go by, one number a test question [Q]."""
    mine, majority, test = case.verdicts[case.method.name], case.verdicts["majority"], case.test
    correct, present = mine.correct(test), _any_correct(case)
    marks = (mine.code != majority.code, present & ~correct, correct, majority.correct(test))
    values = np.array([CHANGED, MISSED, CORRECT, MAJORITY_CORRECT])
    found: Ints = values @ np.array(marks, np.int64)
    return found


def _any_correct(case: Case) -> Bools:
    return np.logical_or.reduceat(case.test.correct, case.test.starts[:-1])


def ballots(case: Case, words: pl.DataFrame, *, budget: int) -> dict[str, Any]:
    """Pack the ballots of a case into about `budget` bytes of JSON; `words` has a row per response of its test pool."""
    test, flag, first = case.test, flags(case), first_shown(case)
    rank = np.where(flag & CHANGED, 1, np.where(flag & MISSED, 2, 3))
    rank[first] = 0
    kept: dict[int, dict[str, Any]] = {}
    size = 0
    for q, item in _items(case, np.argsort(rank, kind="stable"), flag):
        size += len(encoded(item)) + 12 * len(item["c"]) // 2
        if size > NUMBERS * budget and kept:
            break
        kept[q] = item
    texts = _Texts(budget - size)
    _add_words(case, words, kept, texts)
    return {
        "method": case.method.name,
        "kind": kind_of(case.method),
        "scored": test.scores is not None,
        "sources": [clipped(name, NAMED) for name in test.sources],
        "questions": [kept[q] for q in sorted(kept)],
        "first": sorted(kept).index(first),
        "texts": texts.texts,
        "left_out": test.n_questions - len(kept),
        "dropped": texts.dropped,
    }


def _items(case: Case, order: Ints, flag: Ints) -> Iterator[tuple[int, dict[str, Any]]]:
    """The questions in this order without their texts, weighed a few at a time."""
    for some in np.split(order, range(AT_ONCE, len(order), AT_ONCE)):
        for q, entry in zip(some.tolist(), entries(case.method, case.test.take(some)), strict=True):
            yield q, _numbers(case, q, int(flag[q])) | entry


def _numbers(case: Case, q: int, flag: int) -> dict[str, Any]:
    """One question without its texts and weights."""
    test = case.test
    rows = slice(int(test.starts[q]), int(test.starts[q + 1]))
    answers = slice(int(test.base[q]), int(test.base[q] + test.width[q]))
    mine, majority = case.verdicts[case.method.name], case.verdicts["majority"]
    scores = np.full(rows.stop - rows.start, np.nan) if test.scores is None else test.scores[rows]
    names = test.names[answers].to_list() if test.names is not None else range(int(test.width[q]))
    return {
        "i": clipped(str(test.questions[q]), NAMED),
        "k": flag,
        "a": [clipped(str(name), NAMED) for name in names],
        "r": np.flatnonzero(test.answer_correct[answers]).tolist(),
        "v": int(mine.code[q]),
        "m": int(majority.code[q]),
        **({"h": mine.share[q].round(3)} if mine.p_correct is None else {"f": mine.p_correct[q].round(3)}),
        "c": test.answer[rows].tolist(),
        "s": [None if np.isnan(p) else round(float(p), 4) for p in scores],
        **({} if test.source is None else {"u": test.source[rows].tolist()}),
    }


def _add_words(case: Case, words: pl.DataFrame, kept: dict[int, dict[str, Any]], texts: _Texts) -> None:
    """Point from questions and responses to their texts, most telling questions first."""
    starts = case.test.starts.tolist()
    columns = {name: words[name] for name in words.columns}
    for q, item in kept.items():
        for key, name in (("d", "domain"), ("g", "gold")):
            value = columns[name][starts[q]] if name in columns else None
            if value is not None:
                item[key] = clipped(value, NAMED)
        if "prompt" in columns:
            item["p"] = texts.keep(columns["prompt"][starts[q]])
    if "response" in columns:
        for q, item in kept.items():
            item["x"] = [texts.keep(text) for text in columns["response"][starts[q] : starts[q + 1]].to_list()]
