"""The ballots of the test questions as compact data for the page: who voted for what, with which weight and text.

The size of a page is limited: the ballot shown first is always included; then come questions whose verdict differs from
majority's, then those that are wrong although a correct answer was given, then the rest. Every text is stored once,
while there is room; what is left out is counted.

What an answer has is as `steelyard.voting.answer_values` says. Probabilities and shares are in tenths of a per cent
and add up to 1000.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from steelyard.evaluation.percentages import tenths
from steelyard.evaluation.reports.summary import Case
from steelyard.voting.answer_values import AnswerValues, answer_values, value_kind
from steelyard.voting.methods.base.method import Method
from steelyard.voting.methods.base.response_losses import response_losses
from steelyard.voting.pools.arrays import Bools, Floats, Ints
from steelyard.voting.pools.pool import Pool

LONGEST = 4000  # characters of one text
NAMED = 200  # characters of one answer or question id
AT_ONCE = 200  # questions weighed together
NUMBERS = 0.5  # share of the budget that scores and weights may take, before texts
CHANGED, MISSED, CORRECT, MAJORITY_CORRECT = 1, 2, 4, 8
Entry = dict[str, Any]
ANSWERS = (3, 6)  # so many answers fit one look, and show more than one bar
SURE = (0.6, 0.97)  # a verdict that is sure, and has a rival left to see


def flags(case: Case) -> Ints:
    """Return the bits that the filters use, per test question [Q]."""
    mine, majority, test = case.verdicts[case.method.name], case.verdicts["majority"], case.test
    correct, present = mine.correct(test), np.logical_or.reduceat(test.correct, test.starts[:-1])
    marks = (mine.code != majority.code, present & ~correct, correct, majority.correct(test))
    values = np.array([CHANGED, MISSED, CORRECT, MAJORITY_CORRECT])
    combined: Ints = values @ np.array(marks, np.int64)
    return combined


def ballots(case: Case, rows: pl.DataFrame, *, budget: int) -> dict[str, Any]:
    """Pack the ballots of a case into about `budget` bytes of JSON; `rows` are the responses of its test pool."""
    test, flag, first = case.test, flags(case), first_shown(case)
    rank = np.where(flag & CHANGED, 1, np.where(flag & MISSED, 2, 3))
    rank[first] = 0
    stored: dict[int, dict[str, Any]] = {}
    size = 0
    for q, item in _items(case, np.argsort(rank, kind="stable"), flag):
        size += len(encoded(item)) + 12 * len(item["c"]) // 2
        if size > NUMBERS * budget and stored:
            break
        stored[q] = item
    texts = _Texts(budget - size)
    _add_texts(case, rows, stored, texts)
    return {
        "method": case.method.name,
        "kind": value_kind(case.method),
        "scored": test.scores is not None,
        "sources": [clipped(name, NAMED) for name in test.sources],
        "questions": [stored[q] for q in sorted(stored)],
        "first": sorted(stored).index(first),
        "texts": texts.texts,
        "left_out": test.n_questions - len(stored),
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


def _add_texts(case: Case, rows: pl.DataFrame, stored: dict[int, dict[str, Any]], texts: _Texts) -> None:
    """Add the texts of questions and responses, the most important questions first."""
    starts = case.test.starts.tolist()
    columns = {name: rows[name] for name in rows.columns}
    for q, item in stored.items():
        for key, name in (("d", "domain"), ("g", "gold")):
            value = columns[name][starts[q]] if name in columns else None
            if value is not None:
                item[key] = clipped(value, NAMED)
        if "prompt" in columns:
            item["p"] = texts.add(columns["prompt"][starts[q]])
    if "response" in columns:
        for q, item in stored.items():
            item["x"] = [texts.add(text) for text in columns["response"][starts[q] : starts[q + 1]].to_list()]


@dataclass
class _Texts:
    """Every text once, while the budget lasts."""

    left: int
    texts: list[str] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    dropped: int = 0

    def add(self, text: str | None) -> int:
        if text is None:
            return -1
        if text not in self.index:
            short = clipped(text, LONGEST)
            size = len(encoded(short)) + 1
            if size > self.left:
                self.dropped += 1
                return -1
            self.left -= size
            self.index[text] = len(self.texts)
            self.texts.append(short)
        return self.index[text]


def clipped(text: str, longest: int) -> str:
    """Cut a text that is too long, visibly."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def encoded(value: Any) -> str:
    """JSON that is safe inside a script element: no tag, comment or line separator can begin in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def entries(method: Method, pool: Pool) -> list[Entry]:
    """One entry per question: `t` by answer, votes first, `w` by response, and `o`, what no answer has."""
    kind, shown = value_kind(method), answer_values(method, pool)
    if kind == "probability":
        losses = response_losses(method, pool)
        if losses is None:
            raise AssertionError(f"{method.name} has no probabilities")
        points = _by_question(pool, (100 * losses).round(2))
        return [_with_none(one) | {"w": loss} for one, loss in zip(shown, points, strict=True)]
    if kind == "weight":
        table = [np.column_stack((one.votes, one.value, one.against)).round(3).tolist() for one in shown]
    else:
        table = [_paired(one.votes, tenths(one.value.tolist())) for one in shown]
    return [{"t": t, "w": w} for t, w in zip(table, _by_question(pool, method.weights(pool).round(3)), strict=True)]


def _with_none(one: AnswerValues) -> Entry:
    """The probabilities of the answers, and that of none of them."""
    shares = tenths([*one.value.tolist(), one.none or 0.0])
    return {"t": _paired(one.votes, shares[:-1]), "o": shares[-1]}


def _paired(votes: NDArray[np.float64], shares: Sequence[int]) -> list[list[int]]:
    return [[int(count), share] for count, share in zip(votes, shares, strict=True)]


def _by_question(pool: Pool, values: NDArray[np.float64]) -> list[list[float]]:
    return [part.tolist() for part in np.split(values, pool.starts[1:-1])]


def first_shown(case: Case) -> int:
    """The test question whose verdict overturns a wrong majority most clearly, else one that is clearly correct.

    Clear is: the responses of the verdict have higher scores than those of its strongest rival, and the
    verdict is sure. Ballots that show most in one look go first: a few answers, and a rival that still has a chance.
    """
    mine, majority = case.verdicts[case.method.name], case.verdicts["majority"]
    correct, before = mine.correct(case.test), majority.correct(case.test)
    sure = mine.weight_share if mine.p_correct is None else mine.p_correct
    handy = (mine.votes > 1) & _between(case.test.m, ANSWERS) & _between(sure, SURE)
    clear = _lead(case) * sure
    for candidates in (correct & ~before & handy, correct & ~before, correct & handy, correct):
        if candidates.any():
            return int(np.argmax(np.where(candidates, clear, -np.inf)))
    return 0


def _between(values: NDArray[Any], ends: tuple[float, float]) -> Bools:
    return (values >= ends[0]) & (values <= ends[1])


def _lead(case: Case) -> Floats:
    """By how much the mean score of the verdict's responses leads that of its rival with most votes [Q]; 0 without."""
    test, code = case.test, case.verdicts[case.method.name].code
    if test.scores is None:
        return np.zeros(test.n_questions)
    is_scored = ~np.isnan(test.scores)
    own = test.readable & (test.answer == test.spread(code))
    places = test.spread(np.cumsum(test.width) - test.width) + np.maximum(test.answer, 0)
    votes = np.bincount(places[test.readable & ~own], minlength=int(test.width.sum()))
    most = np.maximum.reduceat(votes, np.cumsum(test.width) - test.width) if len(votes) else votes
    rival = test.readable & ~own & (votes[places] == test.spread(most))
    own_mean, rival_mean = (_mean(case, mask & is_scored) for mask in (own, rival))
    return np.nan_to_num(own_mean - rival_mean)


def _mean(case: Case, rows: Bools) -> Floats:
    """The mean score of these responses by question [Q]; NaN where there is none."""
    question = case.test.spread(np.arange(case.test.n_questions))[rows]
    count = np.bincount(question, minlength=case.test.n_questions)
    total = np.bincount(question, case.test.known_scores[rows], case.test.n_questions)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
