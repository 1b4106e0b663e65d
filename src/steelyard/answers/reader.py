"""Read the answers of a table: equal keys mean the same answer, and null means unreadable.

Each distinct text is normalised once and each open pair decided once, however large the table. Pairs that were not
decided, and answers that exceeded their step budget, are counted and reported.
"""

from __future__ import annotations

import math
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from steelyard.answers.ambiguous_numbers import (
    correct_with_point,
    correct_without_sign,
    settle_decimal_commas,
    settle_percentages,
)
from steelyard.answers.doubtful_answers import KEEPING, ReadingCounts
from steelyard.answers.extract import AUTO, NOTHING, PREFIX, Extracted, kind_of
from steelyard.answers.fingerprints import fingerprint
from steelyard.answers.golds import CHOICE, accepted, golds_are_indices, letter_of
from steelyard.answers.grouping import looks_symbolic, representatives
from steelyard.answers.kind_choice import BY_WORDS, DEFAULT, Evidence, KindChoice
from steelyard.answers.names_in_sentences import TEXT, correct_by_name, with_names
from steelyard.answers.normal import COSTLY, was_read
from steelyard.answers.pairs import OpenPairs, forms_to_evaluate, open_pairs
from steelyard.answers.unreadable import warn_unreadable
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import LabelError, SteelyardNote, SteelyardWarning
from steelyard.foundation.text_views import views_of

if TYPE_CHECKING:
    from steelyard.answers.equivalence import EquivalenceChecker
    from steelyard.answers.kind import Kind
    from steelyard.voting.pools.arrays import Bools, Ints

PLACEHOLDERS = "answers are placeholders such as"
CACHED = 1_000_000  # texts whose forms are cached between parts of a table
_INTEGER = r"^(?:0|-?[1-9][0-9]{0,15})$"  # an integer is its own normal form


class AnswerReader:
    """Reads answers of one kind; `auto` is decided by the golds, answers or responses."""

    def __init__(self, kind: str = AUTO, *, named: bool = True) -> None:
        """`named=False`: the kind comes from a plan, not from the user (see `drops_placeholders`)."""
        self._kind: Kind | None = None if kind == AUTO else kind_of(kind)
        self._named = named and kind != AUTO
        self.placeholders: frozenset[str] | None = None  # texts that are not answers; None until this is settled
        self.replaced = 0  # answers that are placeholders
        self.choice: KindChoice | None = None  # the decision of `look`, with its reason
        self.responses = self.unreadable = 0  # counts so far
        self.undecided = 0  # pairs that timed out or were skipped
        self.undecided_keys: set[str] = set()  # keys that may equal another key but stay separate
        self.checker_queries = 0  # distinct queries to the equivalence checker
        self.until = math.inf  # monotonic clock: the checker gets no query after this time
        self.costly = 0  # distinct answers that exceeded their step budget
        self.doubtful = 0  # distinct answers that are ambiguous
        self.counts = ReadingCounts()
        self.gold_indices = False  # whether gold answers are option indices: 0 is A
        self._forms: dict[str, str | None] = {}
        self._symbolic: dict[str, bool] = {}
        self._checker: EquivalenceChecker | None = None

    def copy(self) -> AnswerReader:
        """Return a reader of the same kind that has not read anything yet."""
        other = AnswerReader(self.kind.name)
        other._kind, other._named, other.choice = self._kind, self._named, self.choice
        other.placeholders, other.gold_indices, other.until = self.placeholders, self.gold_indices, self.until
        return other

    @property
    def kind(self) -> Kind:
        """The kind of answers; `auto` is `math` until it has seen a table."""
        return self._kind or kind_of(DEFAULT)

    @property
    def drops_placeholders(self) -> bool:
        """Whether None, N/A and the like are not answers; they are if the user asked for `text`."""
        name = self.kind.name
        return not (name in KEEPING or name.startswith(PREFIX)) or (name == "text" and not self._named)

    def look(self, evidence: Callable[[], Evidence | KindChoice]) -> None:
        """Choose the kind from the evidence of a table, unless it is fixed, and report it.

        `math` is the default and is reported only if it is doubtful.
        """
        if self._kind is not None:
            return
        from steelyard.answers.auto_kind import choose_kind

        result = evidence()
        self.choice = result if isinstance(result, KindChoice) else choose_kind(result)
        self._kind = kind_of(self.choice.kind)
        message = f"answers are read as {self.choice.kind}: {self.choice.reason}"
        if self.choice.doubtful:
            fix = "name the kind with --answers (answers=), or split the file"
            warnings.warn(f"{message}; {fix}", SteelyardWarning, stacklevel=2)
        elif self.choice.kind != DEFAULT:
            fix = (
                f"; to compare whole sentences, add {argument('answers', self.choice.free)}" if self.choice.free else ""
            )
            warnings.warn(message + fix, SteelyardNote, stacklevel=2)

    def look_at_golds(self, golds: pl.Series, texts: pl.Series) -> None:
        """Decide from all golds of a file, and some of its responses, whether golds are option indices."""
        if self.kind.name == CHOICE:
            distinct = golds.drop_nulls().unique().to_list()
            self.gold_indices = golds_are_indices(distinct, texts.drop_nulls().to_list())
            if self.gold_indices:
                last = max(distinct).strip()[0]
                text = f"the gold answers 0 to {last} are read as option indices: 0 is A, {last} is"
                warnings.warn(f"{text} {letter_of(last)}", SteelyardNote, stacklevel=2)

    def extract(self, responses: pl.Series, cut: pl.Series | None = None) -> list[Extracted]:
        """Extract the final answer of every response; `cut` marks those cut off by their length limit."""
        kind = self.kind
        rows = zip(responses, [False] * len(responses) if cut is None else cut, strict=True)
        readings = [NOTHING if text is None else kind.extract(text, cut=is_cut) for text, is_cut in rows]
        self.counts.add(readings)
        return readings

    def keys(
        self, texts: pl.Series, question: Ints, votes: Callable[[], Ints] | None = None, *, golds: int = 0
    ) -> pl.Series:
        """Return the key of every answer; `question` is its question, `votes` returns the number of votes of each.

        Votes are only requested if the equivalence checker is needed: it checks the answers with most votes first.
        The last `golds` texts are gold answers; they do not influence which other answers are the same.
        """
        kind = self.kind
        rest = _without_integers(texts) if kind.maths else texts
        distinct = rest.drop_nulls().unique() if len(rest) else rest
        if not len(distinct):
            return texts
        if len(self._forms) + len(distinct) > CACHED:
            self._forms.clear()
            self._symbolic.clear()
        missing = self.placeholders or frozenset()
        for text in distinct:
            if text not in self._forms:
                form = "" if text.strip().lower() in missing else kind.form(text)
                self._forms[text] = key = form if form or kind.blank else None
                self.doubtful += kind.doubt is not None and kind.doubt.applies(text)
                if kind.maths and key is not None:
                    self.costly += key.startswith(COSTLY)
                    self._is_symbolic(key)
        keys = texts.replace(distinct, pl.Series([self._forms[text] for text in distinct], dtype=pl.String))
        voting = len(texts) - golds
        if kind.name == TEXT:
            return with_names(texts, keys, question, voting)
        if not kind.maths:
            return keys
        keys = settle_percentages(texts, keys, question, voting)
        keys = settle_decimal_commas(texts, keys, question, voting)
        return self._merged(keys, question, votes)

    def labelled(
        self, texts: pl.Series, question: Ints, gold: pl.Series, votes: Callable[[int], Ints] | None = None
    ) -> tuple[pl.Series, Bools]:
        """Return the key of every answer, and which are correct; `gold` has the gold answer of question 0, 1, 2, ..

        A gold answer may be a worked solution or a list of accepted answers. Labels are more lenient than keys in
        one respect: a percentage and the bare number are both correct if the gold answer is one of them.
        The argument of `votes` is the number of accepted answers appended to the texts.
        """
        lists = [[] if text is None else self._accepted(text) for text in gold]
        owner = np.repeat(np.arange(len(lists)), [len(answers) for answers in lists])
        golds = pl.Series(texts.name, [text for answers in lists for text in answers], pl.String)
        counted = None if votes is None else lambda: votes(len(golds))
        both = self.keys(pl.concat((texts, golds)), np.concatenate((question, owner)), counted, golds=len(golds))
        keys = both.head(len(texts))
        correct_keys = pl.DataFrame({"question": owner, "key": both.tail(len(golds))}).unique()
        correct_keys = correct_keys.with_columns(correct=pl.lit(True))
        rows = pl.DataFrame({"question": question, "key": keys})
        labels = rows.join(correct_keys, on=["question", "key"], how="left", maintain_order="left")["correct"]
        correct: Bools = labels.fill_null(False).to_numpy().copy()
        if self.kind.maths:
            correct |= correct_without_sign(texts, question, golds, owner) | correct_with_point(
                texts, question, golds, owner
            )
        if self.kind.name == TEXT:
            correct |= correct_by_name(texts, keys, question, golds, owner)
        if self.kind.name == "choice":
            _check_options(keys, question, lists)
        return keys, correct

    def warn(self, shown: str = "steelyard answers FILE --only-unreadable") -> None:
        """Warn about unreadable and undecided answers; `shown` is the command that lists the unreadable ones."""
        warn_unreadable(self.unreadable, self.responses, shown, self.counts.cut, why=self.kind.unreadable)
        if self.replaced:
            warnings.warn(
                f"{self.replaced:,} {PLACEHOLDERS} 'None', 'N/A' or '[invalid]' and cast no vote; "
                f"{argument('answers', 'exact')} reads them as answers",
                SteelyardWarning,
                stacklevel=2,
            )
        self.counts.warn((self.choice and self.choice.free) or BY_WORDS)
        if self.doubtful and self.kind.doubt:
            warnings.warn(f"{self.doubtful:,} {self.kind.doubt.message}", SteelyardNote, stacklevel=3)
        if self.undecided:
            _warn(f"{self.undecided:,} pairs of answers could not be compared in time and count as different answers")
        if self.costly:
            _warn(f"{self.costly:,} answers are too long to parse and are compared as text")

    def _accepted(self, gold: str) -> list[str]:
        return [letter_of(gold)] if self.gold_indices else accepted(gold, self.kind)

    def close(self) -> None:
        """Stop the worker processes, if any were needed."""
        if self._checker is not None:
            self._checker.close()
            self._checker = None

    def _is_symbolic(self, form: str) -> bool:
        """Whether only fingerprints and the equivalence checker can compare a form; starts the checker if needed."""
        if form not in self._symbolic:
            self._symbolic[form] = looks_symbolic(form) and not was_read(form)
            if self._symbolic[form] and time.monotonic() < self.until and fingerprint(form) is None:
                self._get_checker().start()
        return self._symbolic[form]

    def _get_checker(self) -> EquivalenceChecker:
        from steelyard.answers.equivalence import EquivalenceChecker

        self._checker = self._checker or EquivalenceChecker()
        return self._checker

    def _merged(self, keys: pl.Series, question: Ints, votes: Callable[[], Ints] | None) -> pl.Series:
        """Merge the keys that the equivalence checker finds equal."""
        symbolic = {key for key in keys.drop_nulls().unique() if self._is_symbolic(key)}
        if not symbolic:
            return keys
        rows = _rows_of(question, np.unique(question[keys.is_in(list(symbolic)).fill_null(False).to_numpy()]))
        weight = np.ones(len(keys), np.int64) if votes is None else votes()
        merged: list[str | None] = keys.to_list()
        counted: list[Counter[str]] = []
        for indices in rows:
            count: Counter[str] = Counter()
            for row in indices.tolist():
                if (key := merged[row]) is not None:
                    count[key] += int(weight[row])
            counted.append(count)
        for indices, count, (candidates, verdicts) in zip(rows, counted, self._ask(symbolic, counted), strict=True):
            pairs = list(zip(candidates.pairs, verdicts, strict=True))
            representative = representatives(list(count), [pair for pair, same in pairs if same])
            late = [pair for pair, same in pairs if same is None]
            self.undecided += candidates.skipped + len(late)
            self.undecided_keys |= candidates.undecided | {form for pair in late for form in pair if form in symbolic}
            for row in indices.tolist():
                if (key := merged[row]) is not None:
                    merged[row] = representative[key]
        return pl.Series(keys.name, merged, pl.String)

    def _ask(self, symbolic: set[str], counted: list[Counter[str]]) -> list[tuple[OpenPairs, list[bool | None]]]:
        """Find the open pairs of every question, then decide those of all questions together."""
        checker = self._get_checker()
        checker.until = self.until
        by_question = [(votes, [form for form in votes if form in symbolic]) for votes in counted]
        checker.values([form for votes, forms in by_question for form in forms_to_evaluate(votes, forms)])
        candidates = [open_pairs(votes, forms, checker) for votes, forms in by_question]
        pairs = list(dict.fromkeys(pair for open_ in candidates for pair in open_.pairs))
        verdicts = dict(zip(pairs, checker.decide(pairs), strict=True))
        self.checker_queries = len(checker.replies)
        return [(open_, [verdicts[pair] for pair in open_.pairs]) for open_ in candidates]


def _rows_of(question: Ints, questions: Ints) -> list[Ints]:
    """The rows of each of `questions`, in one pass."""
    order = np.argsort(question, kind="stable")
    ordered = question[order]
    ends = zip(np.searchsorted(ordered, questions, "left"), np.searchsorted(ordered, questions, "right"), strict=True)
    return [order[start:end] for start, end in ends]


def _check_options(keys: pl.Series, question: Ints, golds: list[list[str]]) -> None:
    """Refuse gold answers in words if the responses are letters: every response would count as wrong."""
    from steelyard.answers.option_letters import LETTERS

    form = kind_of("choice").form
    words = {i for i, texts in enumerate(golds) if texts and not any(re.match(LETTERS, form(text)) for text in texts)}
    if not words:
        return
    letters = pl.DataFrame({"question": question, "letter": keys.str.contains(LETTERS)}).drop_nulls()
    only = letters.group_by("question").agg(pl.col("letter").all()).filter("letter")["question"]
    lost = sorted(words & set(only.to_list()))
    if lost:
        raise LabelError(
            f"{len(lost)} gold answers are words, the first {golds[lost[0]][0]!r:.60}, but the responses to their "
            "questions name letters: give gold as the letter, or as the letter with its text, 'B) Rome'"
        )


def _warn(text: str) -> None:
    warnings.warn(f"{text}; 'steelyard answers FILE' shows them", SteelyardWarning, stacklevel=3)


def _without_integers(texts: pl.Series) -> pl.Series:
    """Return the texts that are not integers in their normal form, nor null; the short integers are found first."""
    from steelyard.voting import kernels

    views = views_of(texts)
    if views is not None:
        found = np.empty(len(texts), bool)
        kernels.find_integers(views, found)
        if found.all() and not texts.null_count():
            return texts.clear()
        texts = texts.filter(pl.Series(~found))
    return texts.filter(~texts.str.contains(_INTEGER))
