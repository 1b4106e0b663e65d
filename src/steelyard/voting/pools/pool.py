"""Pools: the responses to a set of questions as arrays, with or without labels.

A pool holds R responses to Q questions as arrays, sorted by question and, within a question, in
the order they were sampled. Answers are small integer codes within their question. Derived pools
(`first`, `take`, `split`, `shuffled`) share the names and labels of the pool they come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steelyard.foundation.arguments import argument
from steelyard.foundation.errors import ColumnError, ScoreError, SettingError, TableError, need_numbers
from steelyard.voting.pools.arrays import (
    Bools,
    Codes,
    Floats,
    Ints,
    checked_labels,
    coded_sources,
    group,
    places_among,
    ranges,
    small_codes,
    split_size,
)
from steelyard.voting.pools.label_conflicts import MAJORITY, LabelConflicts
from steelyard.voting.pools.notebook import html_facts, pool_facts
from steelyard.voting.pools.origin import Origin
from steelyard.voting.pools.relative_scores import standardised_again
from steelyard.voting.pools.scores import checked_scores, in_unit_range, mean_on_any_scale
from steelyard.voting.pools.similarity import Similarity

PER_RESPONSE = ("answer", "scores", "parts", "source", "tokens", "scored", "text", "sample")  # fields with R entries


@dataclass(frozen=True, eq=False, repr=False)
class Pool:
    """R responses to Q questions: their answers, scores and sources.

    >>> pool = Pool.from_arrays(question=[0, 0, 1], answer=[5, 6, 2], scores=[0.9, 0.2, 0.4])
    >>> pool.n_questions, pool.n_responses, pool.n, pool.first(1).n_responses
    (2, 3, 2, 2)
    """

    starts: Ints  # [Q+1] where each question's responses begin
    answer: Codes  # [R] code within the question, -1 = unreadable
    scores: Floats | None  # [R] in [0, 1], NaN = the verifier gave none
    base: Ints  # [Q] where the question's answers begin in `names`
    width: Ints  # [Q] codes are below this
    questions: Any  # [Q] ids: an array or a polars Series
    names: Any = None  # answers by base + code; None: the code is its own name
    origin: Origin = field(default_factory=Origin)
    parts: Floats | None = None  # [R, V] several scores on any scale, named in the origin; `scores` is then their mean
    source: Codes | None = None  # [R] the code of its source; None: unknown
    sources: tuple[str, ...] = ()  # their names, by code
    tokens: Floats | None = None  # [R] tokens of each response, NaN = unknown; None: not read
    scored: Bools | None = None  # [R] which scores were requested; None: all. One that was not is NaN too
    text: Ints | None = None  # [R] equal numbers within a question: the same text; None: texts were not read
    similarity: Similarity | None = None  # of the answers of a question; None: only equal ones count
    sample: Ints | None = None  # [R] the number of each sample in its table; None: not read

    @staticmethod
    def from_arrays(
        *,
        question: ArrayLike,
        answer: ArrayLike,
        scores: ArrayLike | None = None,
        correct: ArrayLike | None = None,
        source: ArrayLike | None = None,
        labels: str = MAJORITY,
    ) -> Pool:
        """Make a pool from one entry per response; a LabelledPool when `correct` is given.

        Questions come in the order they are first seen, responses of a question in the order
        given; weights for `tally` follow that order. Nothing is copied when the responses of each
        question stand together and answers are small int32 codes. `source` names who gave each response: an LLM, a
        prompt, an annotator. Where the labels of an answer disagree, `labels` says what happens: see `labelled`.

        >>> pool = Pool.from_arrays(question=[0, 0, 0, 1], answer=[5, 5, -1, 2], scores=[0.9, 0.2, 0.5, 0.4])
        >>> pool
        Pool(2 questions, 4 responses, 1 unreadable)
        """
        inputs = {"question": question, "answer": answer, "scores": scores, "correct": correct, "source": source}
        columns = {name: np.asarray(values, order="C") for name, values in inputs.items() if values is not None}
        rows = columns["question"].size
        for name, column in columns.items():
            if column.ndim != 1 or len(column) != rows:
                raise ColumnError(f"{name} has shape {column.shape}: give one entry for each of {rows} responses")
        if not rows:
            raise TableError("there are no responses: the arrays are empty")
        starts, order = group(columns["question"])
        if order is not None:
            columns = {name: column[order] for name, column in columns.items()}
        codes, width, names = small_codes(starts, columns["answer"])
        score = checked_scores(columns["scores"]) if "scores" in columns else None
        ids = columns["question"][starts[:-1]]
        who, sources = coded_sources(columns["source"]) if "source" in columns else (None, ())
        base = np.cumsum(width) - width
        pool = Pool(starts, codes, score, base, width, ids, names, source=who, sources=sources)
        return pool.labelled(columns["correct"], labels=labels) if "correct" in columns else pool

    def labelled(self, correct: NDArray[Any], *, labels: str = MAJORITY) -> LabelledPool:
        """Attach labels, one per response [R].

        An answer that is labelled correct and incorrect gets the label of most of its responses, with a warning;
        `labels="strict"` refuses it.
        """
        conflicts = LabelConflicts(labels)
        answer_correct = conflicts.label(self, checked_labels(correct))
        conflicts.warn()
        return LabelledPool(**vars(self), answer_correct=answer_correct)

    @property
    def n_questions(self) -> int:
        return len(self.starts) - 1

    @property
    def n_responses(self) -> int:
        return len(self.answer)

    @property
    def sizes(self) -> Ints:
        """Responses per question, readable or not [Q]."""
        return np.diff(self.starts)

    @property
    def n(self) -> int:
        """The N of this pool: responses of its largest question."""
        return int(self.sizes.max())

    @property
    def m(self) -> Ints:
        """Distinct readable answers per question [Q]."""
        from steelyard.voting import kernels

        m = np.empty(self.n_questions, np.int64)
        kernels.distinct(self.starts, self.answer, np.full(max(1, self.width.max()), -1), m)
        return m

    @property
    def readable(self) -> Bools:
        """Which responses have an answer [R]."""
        return self.answer >= 0

    @property
    def known_scores(self) -> Floats:
        """The scores, or an error that says what a method without them can do."""
        if self.scores is None:
            score = argument("score", "COLUMN")
            raise ScoreError(f"this pool has no scores: read it with {score}, or use the method 'majority'")
        return self.scores

    def spread(self, per_question: NDArray[Any]) -> NDArray[Any]:
        """Repeat one value per question for each of its responses: [Q] -> [R]."""
        return np.repeat(per_question, self.sizes)

    @property
    def rank(self) -> Ints:
        """The rank of each question by id [Q], so that random choices do not depend on the file's order."""
        return np.argsort(np.argsort(np.asarray(self.questions), kind="stable"), kind="stable")

    def first(self, n: int) -> Self:
        """Keep the first n samples of every question."""
        need_numbers(n=n)
        if n < 1:
            raise SettingError(f"n must be at least 1, not {n}")
        if n >= self.n:
            return self
        sizes = np.minimum(self.sizes, n)
        return self._standardised(self._rows(ranges(self.starts[:-1], sizes), sizes))

    def take(self, questions: ArrayLike) -> Self:
        """Keep these questions, by position or by a mask, in this order (repeats allowed)."""
        index = np.arange(self.n_questions)[np.asarray(questions) if len(np.atleast_1d(questions)) else slice(0)]
        sizes = self.sizes[index]
        part = self._rows(ranges(self.starts[index], sizes), sizes)
        return replace(part, **self._by_question(index), questions=self.questions[index])

    def by_source(self) -> Self:
        """The same pool with the responses of every question in the order of their sources."""
        if self.source is None:
            return self
        order = np.lexsort((self.source, self.spread(np.arange(self.n_questions))))
        return self._rows(order, self.sizes)

    def from_sources(self, names: Iterable[str]) -> Self:
        """Keep the responses of these sources, and the questions that one of them answered.

        >>> pool = Pool.from_arrays(question=[0, 0, 1], answer=[5, 6, 2], source=["gpt", "llama", "gpt"])
        >>> pool.from_sources(["llama"])
        Pool(1 questions, 1 responses, 0 unreadable, 1 sources)
        """
        selected = tuple(sorted(set(names)))
        unknown = [name for name in selected if name not in self.sources]
        if self.source is None or unknown or not selected:
            available = ", ".join(self.sources) or f"none: read it with {argument('source', 'COLUMN')}"
            raise SettingError(f"there is no source {', '.join(unknown) or 'to keep'}; the sources are {available}")
        return self._of_sources(selected, np.ones(self.n_responses, bool))

    def without_sources(self) -> Self:
        """The same responses, as if all were of one source."""
        return replace(self, source=None, sources=(), origin=replace(self.origin, source=None))

    def first_of_sources(self, samples: Mapping[str, int]) -> Self:
        """Keep the first samples of every source, so many of each, and the questions that are left with any.

        >>> pool = Pool.from_arrays(question=[0, 0, 0], answer=[5, 6, 7], source=["gpt", "llama", "llama"])
        >>> pool.first_of_sources({"gpt": 0, "llama": 1}).answer
        array([6], dtype=int32)
        """
        pool = self.from_sources(name for name, count in samples.items() if count)
        if pool.source is None:
            raise AssertionError("a pool of some sources does not know them")
        limit = np.array([samples[name] for name in pool.sources])
        return pool._of_sources(pool.sources, places_among(pool.question_and_source) < limit[pool.source])

    def _of_sources(self, selected: tuple[str, ...], among: Bools) -> Self:
        """Keep some responses [R] of these sources."""
        if self.source is None:
            raise AssertionError("a pool without sources was asked for some")
        code = np.full(len(self.sources), -1, np.int32)
        code[[self.sources.index(name) for name in selected]] = np.arange(len(selected))
        keep = (code[self.source] >= 0) & among
        sizes = np.bincount(self.spread(np.arange(self.n_questions))[keep], minlength=self.n_questions)
        present = np.flatnonzero(sizes)
        if not len(present):
            raise SettingError(f"{', '.join(selected)} answered none of these questions")
        part = self._rows(np.flatnonzero(keep), sizes[present])
        fields = self._by_question(present) | {"questions": self.questions[present], "sources": selected}
        return self._standardised(replace(part, **fields, source=code[self.source[keep]]))

    def shuffled(self, copies: int, rng: np.random.Generator) -> Self:
        """Return `copies` of the pool, one after the other, each with its samples in a new random order."""
        return self.resampled(rng.integers(2**64, size=self.n_questions, dtype=np.uint64), 0, copies)

    def resampled(self, keys: NDArray[np.uint64], first: int, copies: int) -> Self:
        """Return the shuffled copies number first, first + 1, ..; the order of each depends on key [Q] and number."""
        from steelyard.voting import kernels

        rows = np.empty((copies, self.n_responses), np.int64)
        kernels.permutations(self.starts, keys, first, rows)
        tiled = self._rows(rows.ravel(), np.tile(self.sizes, copies))
        positions = np.tile(np.arange(self.n_questions), copies)
        return replace(tiled, **self._by_question(positions), questions=positions)

    def with_shuffled_scores(self, seed: int) -> Self:
        """Shuffle the scores over all responses: the control without any signal."""
        order = np.random.default_rng(seed).permutation(self.n_responses)
        parts = None if self.parts is None else self.parts[order]
        return replace(self, scores=self.known_scores[order], parts=parts)

    def only_scored(self, scored: Bools) -> Self:
        """Hide the scores of the other responses [R]: not requested differs from missing, where the verifier gave none.

        >>> pool = Pool.from_arrays(question=[0, 0], answer=[5, 6], scores=[0.9, 0.2])
        >>> pool.only_scored(np.array([True, False])).scores, pool.only_scored(np.array([True, True])).scored
        (array([0.9, nan]), None)
        """
        if scored.all():
            return replace(self, scored=None)
        parts = None if self.parts is None else np.where(scored[:, None], self.parts, np.nan)
        return replace(self, scores=np.where(scored, self.known_scores, np.nan), parts=parts, scored=scored)

    def with_parts(self, parts: Mapping[str, ArrayLike]) -> Self:
        """Return the pool with several scores, each with one entry per response [R], in place of one.

        They may be on any scale. A method that learns learns how to mix them; the others read the mean of their
        logits, or of the logits of their ranks in a question with a score outside [0, 1].

        >>> pool = Pool.from_arrays(question=[0, 0], answer=[5, 6])
        >>> pool.with_parts({"prm": [0.9, 0.2], "self": [0.9, 0.5]}).scores.round(2)
        array([0.9 , 0.33])
        """
        names = tuple(sorted(parts))
        columns = [checked_scores(np.asarray(parts[name]), name, any_scale=True) for name in names]
        for name, column in zip(names, columns, strict=True):
            if column.shape != (self.n_responses,):
                raise ColumnError(
                    f"{name} has shape {column.shape}: give one entry for each of {self.n_responses} responses"
                )
        if len(names) < 2:
            raise ScoreError(f"there is nothing to mix in {list(names)}: give two scores or more, or one as `scores`")
        together = np.column_stack(columns)
        origin = replace(self.origin, score="+".join(names), parts=names)
        scores = mean_on_any_scale(together, self.spread(np.arange(self.n_questions)))
        return replace(self, scores=scores, parts=together, origin=origin)

    def split(self, fraction: float, *, seed: int) -> tuple[Self, Self]:
        """Split the questions in two: a share `fraction` to calibrate on, and the rest to test on.

        Questions are sorted by id and permuted by `default_rng(seed)`, so the parts, in order of id,
        depend on the ids alone, not on the order of the file.
        """
        need_numbers(share=fraction, seed=seed)
        count = split_size(fraction, self.n_questions)
        by_id = np.argsort(self.rank)
        order = np.random.default_rng(seed).permutation(self.n_questions)
        pool = replace(self, origin=replace(self.origin, split_from=self.n_questions))
        return pool.take(by_id[np.sort(order[:count])]), pool.take(by_id[np.sort(order[count:])])

    def _by_question(self, index: Ints) -> dict[str, Any]:
        """The fields with an entry per question, of these questions."""
        alike = None if self.similarity is None else self.similarity.take(index)
        return {"base": self.base[index], "width": self.width[index], "similarity": alike}

    def _rows(self, rows: Ints, sizes: Ints) -> Self:
        starts = np.concatenate(([0], np.cumsum(sizes)))
        columns = ((name, getattr(self, name)) for name in PER_RESPONSE)
        chosen: dict[str, Any] = {name: None if column is None else column[rows] for name, column in columns}
        return replace(self, starts=starts, **chosen)

    def _standardised(self, part: Self) -> Self:
        """Compute the scores of a part of this pool again that are relative to responses that it left out.

        These are standardised scores, and the mean of scores on any scale, which are ranked in their question.
        """
        relative, names = self.origin.relative, self.origin.parts
        mix = self.parts if self.parts is not None and self.parts.shape[1] == len(names) else None  # or no scores
        any_scale = mix is not None and not in_unit_range(mix)
        if part.scores is None or not (relative or any_scale):
            return part
        group = part.question_and_source
        if mix is None or part.parts is None:
            return replace(part, scores=standardised_again(part.scores.astype(np.float64), group))
        columns = zip(names, part.parts.T, strict=True)
        parts = np.column_stack([standardised_again(x, group) if name in relative else x for name, x in columns])
        return replace(part, parts=parts, scores=mean_on_any_scale(parts, part.spread(np.arange(part.n_questions))))

    @property
    def question_and_source(self) -> Ints:
        """One code per response, the same for the responses of one source to one question [R]."""
        question: Ints = self.spread(np.arange(self.n_questions))
        return question if self.source is None else question * max(1, len(self.sources)) + self.source

    def __repr__(self) -> str:
        unreadable = int((self.answer < 0).sum())
        score = f", score {self.origin.score}" if self.origin.score else ""
        sources = f", {len(self.sources)} sources" if self.sources else ""
        return (
            f"{type(self).__name__}({self.n_questions} questions, {self.n_responses} responses, "
            f"{unreadable} unreadable{score}{sources})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return html_facts(type(self).__name__, pool_facts(self) | self._label_facts())

    def _label_facts(self) -> dict[str, object]:
        return {}


@dataclass(frozen=True, eq=False, repr=False)
class LabelledPool(Pool):
    """A pool with labels: which answers are correct.

    >>> pool = Pool.from_arrays(question=[0, 0, 1], answer=[5, 6, 2], correct=[True, False, False])
    >>> pool
    LabelledPool(2 questions, 3 responses, 0 unreadable)
    >>> pool.unlabelled()
    Pool(2 questions, 3 responses, 0 unreadable)
    """

    answer_correct: Bools = field(kw_only=True)  # by base + code, beside `names`, and one entry more
    answer_attempted: Bools | None = field(default=None, kw_only=True)  # likewise; None: nobody graded "not attempted"

    @property
    def correct(self) -> Bools:
        """Which responses are right [R]; an unreadable one never is."""
        index = np.where(self.readable, self.spread(self.base) + self.answer, 0)
        return self.answer_correct[index] & self.readable

    @property
    def reports_attempts(self) -> bool:
        """Whether a verdict may be "not attempted": responses were graded so, or free text declined to answer."""
        return self.answer_attempted is not None or (self.similarity is not None and not self.readable.all())

    def labelled_by_attempt(self) -> Self:
        """The same responses with every attempted answer labelled correct; without such grades, every answer.

        >>> pool = Pool.from_arrays(question=[0, 0], answer=[5, -1], correct=[False, False])
        >>> pool.labelled_by_attempt().correct
        array([ True, False])
        """
        attempted = True if self.answer_attempted is None else self.answer_attempted
        return replace(self, answer_correct=self.answer_correct | attempted)

    def _label_facts(self) -> dict[str, object]:
        return {"correct": f"{self.correct.mean():.1%} of the responses"}

    def unlabelled(self) -> Pool:
        """The same responses without their labels."""
        labels = ("answer_correct", "answer_attempted")
        return Pool(**{name: value for name, value in vars(self).items() if name not in labels})
