"""Answers of a whole table -> keys that are equal exactly when the answers are the same; null = unreadable.

Each distinct text is normalised once and each open pair decided once, however large the table; what was not decided,
and what cost too much to read, is counted and told.
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

from steelyard.answers.auto_kind import DEFAULT, Evidence, KindChoice, choose_kind
from steelyard.answers.decimal_commas import correct_with_point, settled_commas
from steelyard.answers.extract import AUTO, NOTHING, Extracted, kind_of
from steelyard.answers.fingerprints import fingerprint
from steelyard.answers.gold_indices import CHOICE, golds_are_indices, letter_of
from steelyard.answers.golds import accepted
from steelyard.answers.grouping import looks_symbolic, representatives
from steelyard.answers.how_read import HowRead
from steelyard.answers.letters import LETTERS
from steelyard.answers.names_in_sentences import TEXT, correct_by_name, with_names
from steelyard.answers.normal import too_costly, was_read
from steelyard.answers.pairs import OpenPairs, open_pairs, to_value
from steelyard.answers.pattern import PREFIX
from steelyard.answers.per_cents import also_correct, settled
from steelyard.answers.placeholders import KEEPING, as_word
from steelyard.answers.unreadable import tell_unreadable
from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import LabelError, SteelyardNote, SteelyardWarning

if TYPE_CHECKING:
    from steelyard.answers.equivalence import EquivalenceChecker
    from steelyard.answers.kind import Kind
    from steelyard.voting.pools.arrays import Bools, Ints

KEPT = 1_000_000  # texts remembered from one part of a table to the next
_WHOLE = r"^(?:0|-?[1-9][0-9]{0,15})$"  # whole numbers are their own normal form


class AnswerReader:
    """Reads answers of one kind: math, number, choice, text, code, json, date, yes-no, exact, re:PATTERN or auto."""

    def __init__(self, kind: str = AUTO, *, named: bool = True) -> None:
        """`named=False`: the kind is that of a plan, not one that the user has named (see `drops_placeholders`)."""
        self._kind: Kind | None = None if kind == AUTO else kind_of(kind)
        self._named = named and kind != AUTO
        self.placeholders: frozenset[str] | None = None  # words that are no answers; None: not settled yet
        self.replaced = 0  # answers that are such a word
        self.choice: KindChoice | None = None  # what `look` decided, and why
        self.responses = self.unreadable = 0  # what was read so far
        self.undecided = 0  # pairs that nobody could decide, or that were not asked about
        self.apart: set[str] = set()  # keys that stay apart from one they may equal
        self.asked = 0  # questions that the equivalence checker's workers were asked
        self.until = math.inf  # by the monotonic clock: the checker is asked nothing after it
        self.costly = 0  # distinct answers that cost more steps than their length allows
        self.doubtful = 0  # distinct answers that could be meant in two ways
        self.how = HowRead()
        self.gold_indices = False  # whether gold answers are indices of options: 0 is A
        self._forms: dict[str, str | None] = {}
        self._symbolic: dict[str, bool] = {}
        self._checker: EquivalenceChecker | None = None

    @property
    def kind(self) -> Kind:
        """The kind of answers; `auto` that has seen nothing is math."""
        return self._kind or kind_of(DEFAULT)

    @property
    def drops_placeholders(self) -> bool:
        """Whether None, N/A and the like are no answers of this kind; words that were asked for as `text` may be."""
        name = self.kind.name
        return not (name in KEEPING or name.startswith(PREFIX)) or (name == "text" and not self._named)

    def look(self, evidence: Callable[[], Evidence | KindChoice]) -> None:
        """Decide the kind by what a table shows, unless it is known, and report it.

        Math is not reported unless it is doubtful: it is what is expected.
        """
        if self._kind is not None:
            return
        shown = evidence()
        self.choice = shown if isinstance(shown, KindChoice) else choose_kind(shown)
        self._kind = kind_of(self.choice.kind)
        message = f"answers are read as {self.choice.kind}: {self.choice.reason}"
        if self.choice.doubtful:
            fix = "name the kind with --answers (answers=), or split the file"
            warnings.warn(f"{message}; {fix}", SteelyardWarning, stacklevel=2)
        elif self.choice.kind != DEFAULT:
            warnings.warn(message, SteelyardNote, stacklevel=2)

    def look_at_golds(self, golds: pl.Series, texts: pl.Series) -> None:
        """Find out by all golds of a file, and some of its responses, whether golds are indices of options."""
        if self.kind.name == CHOICE:
            distinct = golds.drop_nulls().unique().to_list()
            self.gold_indices = golds_are_indices(distinct, texts.drop_nulls().to_list())
            if self.gold_indices:
                last = max(distinct).strip()[0]
                text = f"the gold answers 0 to {last} are read as indices of the options: 0 is A, {last} is"
                warnings.warn(f"{text} {letter_of(last)}", SteelyardNote, stacklevel=2)

    def extract(self, responses: pl.Series, cut: pl.Series | None = None) -> list[Extracted]:
        """Read the final answer out of every response; `cut` says which were cut off by their length limit."""
        kind = self.kind
        if cut is None:
            readings = [NOTHING if text is None else kind.extract(text) for text in responses]
        else:
            rows = zip(responses, cut, strict=True)
            readings = [NOTHING if text is None else kind.extract(text, cut=ended) for text, ended in rows]
        self.how.add(readings)
        return readings

    def keys(
        self, texts: pl.Series, question: Ints, votes: Callable[[], Ints] | None = None, *, golds: int = 0
    ) -> pl.Series:
        """Return the key of every answer; `question` says which belong together, `votes` how often each was given.

        The votes are only asked for where the equivalence checker is needed: its time goes to the answers with most.
        The last `golds` texts are gold answers: which others are the same does not depend on them.
        """
        kind = self.kind
        rest = texts.filter(~texts.str.contains(_WHOLE)) if kind.maths else texts
        distinct = rest.drop_nulls().unique()
        if not len(distinct):
            return texts
        if len(self._forms) + len(distinct) > KEPT:
            self._forms.clear()
            self._symbolic.clear()
        missing = self.placeholders or frozenset()
        for text in distinct:
            if text not in self._forms:
                form = "" if as_word(text) in missing else kind.form(text)
                self._forms[text] = found = form if form or kind.blank else None
                self.doubtful += kind.doubt is not None and kind.doubt.concerns(text)
                if kind.maths and found is not None:
                    self.costly += too_costly(found)
                    self._is_symbolic(found)
        keys = texts.replace(distinct, pl.Series([self._forms[text] for text in distinct], dtype=pl.String))
        voting = len(texts) - golds
        if kind.name == TEXT:
            return with_names(texts, keys, question, voting)
        if not kind.maths:
            return keys
        keys = settled_commas(texts, settled(texts, keys, question, voting), question, voting)
        return self._merged(keys, question, votes)

    def labelled(
        self, texts: pl.Series, question: Ints, gold: pl.Series, votes: Callable[[int], Ints] | None = None
    ) -> tuple[pl.Series, Bools]:
        """Return the key of every answer, and which are correct; `gold` has the gold answer of question 0, 1, 2, ..

        A gold answer may be a worked solution or a list of accepted answers. Labels are more lenient than keys in
        one thing: a per cent and the bare number are both correct where the gold answer is one of them.
        `votes` is told how many accepted answers stand after the texts.
        """
        lists = [[] if text is None else self._accepted(text) for text in gold]
        owner = np.repeat(np.arange(len(lists)), [len(each) for each in lists])
        golds = pl.Series(texts.name, [text for each in lists for text in each], pl.String)
        counted = None if votes is None else lambda: votes(len(golds))
        both = self.keys(pl.concat((texts, golds)), np.concatenate((question, owner)), counted, golds=len(golds))
        keys = both.head(len(texts))
        known = pl.DataFrame({"question": owner, "key": both.tail(len(golds))}).unique()
        known = known.with_columns(correct=pl.lit(True))
        asked = pl.DataFrame({"question": question, "key": keys})
        found = asked.join(known, on=["question", "key"], how="left", maintain_order="left")["correct"]
        correct: Bools = found.fill_null(False).to_numpy().copy()
        if self.kind.maths:
            correct |= also_correct(texts, question, golds, owner) | correct_with_point(texts, question, golds, owner)
        if self.kind.name == TEXT:
            correct |= correct_by_name(texts, keys, question, golds, owner)
        if self.kind.name == "choice":
            _check_options(keys, question, lists)
        return keys, correct

    def warn(self, shown: str = "steelyard answers FILE --only-unreadable") -> None:
        """Say what was not read and not decided; `shown` is the command that shows what has no readable answer."""
        tell_unreadable(self.unreadable, self.responses, shown, self.how.cut)
        if self.replaced:
            warnings.warn(
                f"{self.replaced:,} answers are words such as 'None', 'N/A' or '[invalid]' that stand for no answer, "
                f"and cast no vote; {argument('answers', 'exact')} reads them as answers",
                SteelyardWarning,
                stacklevel=2,
            )
        self.how.tell()
        if self.doubtful and self.kind.doubt:
            warnings.warn(f"{self.doubtful:,} {self.kind.doubt.message}", SteelyardNote, stacklevel=3)
        if self.undecided:
            _warn(f"{self.undecided:,} pairs of answers could not be compared in time and count as different answers")
        if self.costly:
            _warn(f"{self.costly:,} answers are too costly to read for their length and are compared as written")

    def _accepted(self, gold: str) -> list[str]:
        return [letter_of(gold)] if self.gold_indices else accepted(gold, self.kind)

    def close(self) -> None:
        """Stop the worker processes, if any were needed."""
        if self._checker is not None:
            self._checker.close()
            self._checker = None

    def _is_symbolic(self, form: str) -> bool:
        """Whether only fingerprints and the equivalence checker can tell; it is started where it will be needed."""
        if form not in self._symbolic:
            self._symbolic[form] = looks_symbolic(form) and not was_read(form)
            if self._symbolic[form] and time.monotonic() < self.until and fingerprint(form) is None:
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
        checker.until = self.until
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


def _check_options(keys: pl.Series, question: Ints, golds: list[list[str]]) -> None:
    """Refuse gold answers in words for responses in letters: all of them would count as wrong."""
    form = kind_of("choice").form
    words = {i for i, each in enumerate(golds) if each and not any(re.match(LETTERS, form(one)) for one in each)}
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
