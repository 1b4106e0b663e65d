"""Verdicts: the winning answer of each question, and how clearly it won."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.errors import LabelError
from steelyard.voting.pools.arrays import Bools, Codes, Ints
from steelyard.voting.pools.notebook import html_table
from steelyard.voting.pools.pool import LabelledPool, Pool
from steelyard.voting.pools.similarity import ALIKE

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

SHOWN = 10  # in a notebook
BINS = 10  # of a picture


@dataclass(frozen=True, eq=False, repr=False)
class Verdicts:
    """One decision per question.

    `share` is the part of the readable responses that gave the winning answer; `margin` its lead over the
    runner-up in weight (over nothing, if it is alone). `confidence` is the probability that the verdict is correct,
    for methods that learn one (`calibrated`, `committee`); for all others it is NaN, and null in a table.

    >>> import steelyard as sy
    >>> pool = sy.Pool.from_arrays(question=[0, 0, 0], answer=[4, 4, 9], scores=[0.1, 0.2, 0.9])
    >>> verdicts = sy.MajorityVote().predict(pool)
    >>> verdicts.answer, verdicts.votes, verdicts.share.round(2)
    (array([4], dtype=int32), array([2]), array([0.67]))
    >>> verdicts.confidence
    array([nan])
    """

    pool: Pool
    code: Codes  # [Q] the winner's code, -1 = every answer was unreadable
    total: NDArray[np.float64]  # [Q] the winner's summed weight
    margin: NDArray[np.float64]  # [Q]
    positive: NDArray[np.float64]  # [Q] positive totals of all answers together
    votes: Ints  # [Q] responses that gave the winning answer, or one like it
    cast: Ints  # [Q] responses with a readable answer
    p_correct: NDArray[np.float64] | None = None  # [Q] learned probability that the verdict is right
    support: NDArray[np.float64] | None = None  # [Q] summed similarity of all responses to the winner; None: the votes

    def __len__(self) -> int:
        return len(self.code)

    @property
    def question(self) -> Any:
        return self.pool.questions

    @property
    def answer(self) -> NDArray[Any]:
        """The winning answers [Q]: text (None = unreadable), or codes as given (-1 = unreadable)."""
        if self.pool.names is None:
            return self.code
        if isinstance(self.pool.names, np.ndarray):
            if not len(self.pool.names):
                return self.code
            names = self.pool.names[self._index].astype(object if self.pool.names.dtype.kind == "u" else np.int64)
            names[self.code < 0] = -1
            return names
        return np.array(self._named().to_list(), object)

    @property
    def share(self) -> NDArray[np.float64]:
        """The part of the readable responses that gave the winning answer [Q]; their mean similarity to it, if any."""
        return (self.votes if self.support is None else self.support) / np.maximum(self.cast, 1)

    @property
    def confidence(self) -> NDArray[np.float64]:
        """The learned probability that each verdict is correct [Q]; all NaN where none was learned."""
        return np.full(len(self), np.nan) if self.p_correct is None else self.p_correct

    @property
    def weight_share(self) -> NDArray[np.float64]:
        """The winner's part of all positive weight [Q], or its `share` where no weight is positive; no probability."""
        some = self.positive > 0
        weighed = np.maximum(self.total, 0) / np.where(some, self.positive, 1)
        return np.where(some, weighed, self.share)

    def with_p_correct(self, p_correct: NDArray[np.float64]) -> Verdicts:
        """The same verdicts with a probability for each [Q]."""
        return replace(self, p_correct=p_correct)

    def correct(self, labelled: LabelledPool) -> Bools:
        """Which verdicts are right [Q]; a null verdict is wrong."""
        same = self.pool.questions is labelled.questions or (
            np.array_equal(self.pool.base, labelled.base)
            and np.array_equal(np.asarray(self.pool.questions), np.asarray(labelled.questions))
        )
        if not same:
            raise LabelError("these verdicts are for other questions than the labels: predict on the same pool")
        return labelled.answer_correct[self._index] & (self.code >= 0)

    def to_polars(self) -> pl.DataFrame:
        """One row per question: question, answer, confidence (null: none learned), share, margin, votes, responses.

        Verdicts on free text also have the `source` and the `sample` of the winning response; null if unknown.
        """
        import polars as pl

        coded = self.pool.names is None or isinstance(self.pool.names, np.ndarray)
        columns = {
            "question": self.question,
            "answer": self.answer if coded else self._named(),
            "confidence": pl.Series(self.confidence, nan_to_null=True),
            "share": self.share,
            "margin": self.margin,
            "votes": self.votes,
            "responses": self.pool.sizes,
        }
        return pl.DataFrame(columns if self.pool.sample is None else columns | self._winners())

    def plot(self, labelled: LabelledPool | None = None) -> alt.LayerChart:
        """Draw the questions by confidence, or by `share` if none was learned; with labels, correct and wrong apart.

        It needs `pip install 'steelyard[report]'`.

        >>> import steelyard as sy
        >>> pool = sy.read_labelled(sy.simulate(200, 8))
        >>> sy.MajorityVote().predict(pool).plot().title.text
        'Vote shares of 200 verdicts'
        """
        from steelyard.foundation.charts.chart_style import check_charts
        from steelyard.foundation.charts.figures import figure
        from steelyard.foundation.charts.question_bins import question_bins

        check_charts()
        correct = None if labelled is None else self.correct(labelled)
        kinds = {"all": np.ones(len(self), bool)} if correct is None else {"correct": correct, "wrong": ~correct}
        values, edges = (self.share if self.p_correct is None else self.p_correct), np.linspace(0, 1, BINS + 1)
        counts = {kind: np.histogram(np.clip(values[here], 0, 1), edges)[0].tolist() for kind, here in kinds.items()}
        rows = [
            {"kind": kind, "begin": i / BINS, "end": (i + 1) / BINS, "questions": count}
            for kind, column in counts.items()
            for i, count in enumerate(column)
        ]
        if self.p_correct is None:
            title, axis = "Vote shares", "share of the readable responses that gave the verdict (%)"
        else:
            title, axis = "Confidence", "confidence of the verdict (%)"
        known = "" if correct is None else f"; {100 * correct.mean():.1f} % of the verdicts are correct"
        title = f"{title} of {len(self):,} verdicts"
        return figure(question_bins(rows, title=axis), title=title, subtitle=f"number of questions{known}")

    def differ(self, other: Verdicts) -> Bools:
        """Which verdicts differ from others on the same pool [Q]; similar answers to free text do not.

        >>> from dataclasses import replace
        >>> import steelyard as sy
        >>> pool = sy.Pool.from_arrays(question=[0, 0], answer=[4, 9])
        >>> verdicts = sy.MajorityVote().predict(pool)
        >>> verdicts.differ(verdicts), verdicts.differ(replace(verdicts, code=verdicts.code + 1))
        (array([False]), array([ True]))
        """
        different: Bools = self.code != other.code
        if self.pool.similarity is not None:
            for q in np.flatnonzero(different & (self.code >= 0) & (other.code >= 0)).tolist():
                block = self.pool.similarity.block(q, int(self.pool.width[q]))
                different[q] = block[self.code[q], other.code[q]] < ALIKE
        return different

    def _winners(self) -> dict[str, pl.Series]:
        """The source and the sample of the first response with each winning answer [Q]; null if there is none."""
        import polars as pl

        pool = self.pool
        won = np.flatnonzero((pool.answer == pool.spread(self.code)) & (pool.answer >= 0))
        questions, first = np.unique(pool.spread(np.arange(len(self)))[won], return_index=True)
        rows = pl.Series(np.zeros(len(self), np.int64)).set(pl.Series(self.code < 0), None)
        rows = rows.scatter(questions, won[first])
        names = pl.Series(pool.sources or [pool.origin.llm], dtype=pl.String)
        code = np.zeros(pool.n_responses, np.int32) if pool.source is None else pool.source
        source, sample = names.gather(pl.Series(code).gather(rows)), pl.Series(pool.sample, dtype=pl.Int64).gather(rows)
        return {"source": source, "sample": sample}

    @property
    def _index(self) -> Ints:
        """The index of each winner among the pool's answers [Q]; 0 if there is none."""
        return np.where(self.code < 0, 0, self.pool.base + self.code)

    def _named(self) -> pl.Series:
        """The winning answers as text, null where there is none."""
        import polars as pl

        names, unreadable = pl.Series(self.pool.names, dtype=pl.String), self.code < 0
        if not unreadable.any():
            return names[self._index]
        return names.gather(pl.Series(self._index).set(pl.Series(unreadable), None))

    def __repr__(self) -> str:
        return f"Verdicts({len(self)} questions, {int((self.code < 0).sum())} without a readable answer)"

    def _repr_html_(self) -> str:
        """What a notebook shows: the first of them."""
        table = self.to_polars().head(SHOWN)
        title = f"{self!r}, the first {table.height}"
        return html_table(title, table.columns, table.iter_rows())
