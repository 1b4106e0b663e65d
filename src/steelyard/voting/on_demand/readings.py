"""Readings: the different texts behind every answer. A verifier reads a text once, however often it was sampled.

Readings of an answer are ordered by how many responses they stand for, then by sample; this order, never that of
arrival, is the one they are asked in. Without texts every response is a reading of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import SettingError
from steelyard.voting.pools.arrays import Bools, Ints
from steelyard.voting.pools.pool import Pool

P = TypeVar("P", bound=Pool)


@dataclass(frozen=True)
class Readings:
    """U readings behind K answers of Q' questions; a question without a readable answer is not here."""

    rows: Ints  # [R'] the readable responses, reading by reading, each in the order of its samples
    of_row: Ints  # [R'] the reading of each of them
    first: Ints  # [U] the first response of each
    answer: Ints  # [U] the answer of each, 0 .. K - 1
    begin: Ints  # [K] where the readings of each answer begin
    count: Ints  # [K] how many it has
    votes: Ints  # [K] how many responses gave it
    question: Ints  # [K]
    code: Ints  # [K] the answer's code within its question
    starts: Ints  # [Q'] where the answers of each question begin
    sizes: Ints  # [Q'] how many it has
    scored: Bools  # [U] which were asked, in any of their copies

    def top(self, values: NDArray[Any]) -> NDArray[Any]:
        """The largest value among the answers of the same question [K]."""
        return np.repeat(np.maximum.reduceat(values, self.starts), self.sizes) if len(values) else values

    def one(self, among: Bools) -> Bools:
        """The first of some answers in each question [K]."""
        position = np.where(among, np.arange(len(among)), len(among))
        first: Bools = among & (position == -self.top(-position))
        return first

    def ranks(self, values: NDArray[np.float64]) -> Ints:
        """The place of each answer in its question, the largest value first [K]."""
        order = np.lexsort((-values, self.question))
        rank = np.empty(len(values), np.int64)
        rank[order] = np.arange(len(values)) - np.repeat(self.starts, self.sizes)
        return rank

    def next_unread(self, answers: Bools) -> Ints:
        """The first reading that was not requested of each of some answers, where there is one."""
        unread = np.where(self.scored, len(self.scored), np.arange(len(self.scored)))
        first = np.minimum.reduceat(unread, self.begin) if len(self.begin) else unread
        chosen: Ints = first[answers]
        return chosen[chosen < len(self.scored)]

    def copies(self, chosen: Ints, responses: int) -> Bools:
        """All responses that have the text of one of these readings [R]."""
        selected = np.zeros(len(self.first), bool)
        selected[chosen] = True
        rows = np.zeros(responses, bool)
        rows[self.rows[selected[self.of_row]]] = True
        return rows


def readings(pool: Pool) -> Readings:
    """Group the readable responses of a pool by question, answer and text."""
    if pool.similarity is not None:
        raise SettingError(
            "scoring on demand compares equal answers, and these are free text: score every response, and leave out "
            "the price of scores and --frugal"
        )
    offsets = np.cumsum(pool.width) - pool.width
    rows = np.flatnonzero(pool.readable)
    index = (pool.spread(offsets) + pool.answer)[rows]
    text = rows if pool.text is None else pool.text[rows]
    order = np.lexsort((rows, text, index))
    new = np.append(True, (np.diff(index[order]) != 0) | (np.diff(text[order]) != 0))[: len(rows)]
    group = np.cumsum(new) - 1
    first = rows[order][new]
    copies = np.bincount(group, minlength=len(first))
    by_copies = np.lexsort((first, -copies, index[order][new]))
    number = np.empty(len(first), np.int64)
    number[by_copies] = np.arange(len(first))
    again = np.argsort(number[group], kind="stable")
    of_row, rows = number[group][again], rows[order][again]
    answers, begin, count = np.unique(index[order][new][by_copies], return_index=True, return_counts=True)
    question = np.repeat(np.arange(pool.n_questions), pool.width)[answers]
    _, starts, sizes = np.unique(question, return_index=True, return_counts=True)
    scored = np.ones(len(rows), bool) if pool.scored is None else pool.scored[rows]
    return Readings(
        rows=rows,
        of_row=of_row,
        first=first[by_copies],
        answer=np.repeat(np.arange(len(answers)), count),
        begin=begin,
        count=count,
        votes=np.bincount(np.repeat(np.arange(len(answers)), count)[of_row], minlength=len(answers)),
        question=question,
        code=answers - offsets[question],
        starts=starts,
        sizes=sizes,
        scored=np.bincount(of_row, scored, len(first)) > 0,
    )


def shared_by_copies(pool: P) -> P:
    """Give every copy of a text that was asked the score of the copy that was: it need not be read again."""
    if pool.scored is None or pool.text is None:
        return pool
    groups = readings(pool)
    scored, score = pool.scored[groups.rows], np.array(pool.known_scores)
    first = np.full(len(groups.first), -1)
    first[groups.of_row[scored][::-1]] = groups.rows[scored][::-1]
    copies = groups.rows[~scored & groups.scored[groups.of_row]]
    origin = first[groups.of_row[~scored & groups.scored[groups.of_row]]]
    score[copies] = score[origin]
    covered = pool.scored.copy()
    covered[copies] = True
    return replace(pool, scores=score, scored=None if covered.all() else covered)


def texts_scored(pool: Pool) -> Ints:
    """How many texts of every question the verifier was asked to read [Q], the unreadable answers' included."""
    scored = np.ones(pool.n_responses, bool) if pool.scored is None else pool.scored
    question = pool.spread(np.arange(pool.n_questions))
    text = np.arange(pool.n_responses) if pool.text is None else pool.text
    pairs = np.unique(np.stack((question[scored], text[scored])), axis=1)
    return np.bincount(pairs[0], minlength=pool.n_questions)
